package io.fairgate.gateway.lease;

import io.fairgate.gateway.lease.receipt.KeyedHash;
import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * Derives the id of a lease from the tenant and the idempotency key. It is always the same, so a repeated call finds the lease
 * of the first one, and no keys have to be stored. The hash uses a secret that ends with the process, so no other party can
 * compute an id. Thread-safe.
 */
public final class LeaseIds {

    private final KeyedHash hash;

    public LeaseIds() {
        byte[] secret = new byte[KeyedHash.BYTES];
        new SecureRandom().nextBytes(secret);
        hash = new KeyedHash(secret);
    }

    /** The id for a key of a tenant. The id of the tenant contains no line break. */
    public LeaseId of(TenantId tenant, String key) {
        ByteBuffer digest = ByteBuffer.wrap(hash.of((tenant.value() + "\n" + key).getBytes(StandardCharsets.UTF_8)));
        return new LeaseId(digest.getLong(), digest.getLong());
    }
}

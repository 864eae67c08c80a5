package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * The id of the lease that a tenant acquires under a key: always the same, so that a call that is repeated finds the lease
 * of the first one, and nobody has to keep the keys. Under a secret that ends with the process: nobody else can say which
 * id it is.
 */
final class LeaseIds {

    private final KeyedHash hash;

    LeaseIds() {
        byte[] secret = new byte[KeyedHash.BYTES];
        new SecureRandom().nextBytes(secret);
        hash = new KeyedHash(secret);
    }

    /** @param key without line breaks, as an id of a tenant is */
    LeaseId of(TenantId tenant, String key) {
        ByteBuffer digest = ByteBuffer.wrap(hash.of((tenant.value() + "\n" + key).getBytes(StandardCharsets.UTF_8)));
        return new LeaseId(digest.getLong(), digest.getLong());
    }
}

package io.fairgate.lease;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * Derives ids of leases from texts, such as the idempotency keys of callers: the same id each time, so that a repeated call finds
 * the lease of the first one, and no texts have to be stored. The ids depend on a secret: without it they cannot be computed.
 * Thread-safe.
 */
public final class LeaseIds {

    private final KeyedHash hash;

    /** @param secret as from {@link #newSecret} */
    public LeaseIds(byte[] secret) {
        hash = new KeyedHash(secret);
    }

    public static byte[] newSecret() {
        byte[] secret = new byte[KeyedHash.BYTES];
        new SecureRandom().nextBytes(secret);
        return secret;
    }

    public LeaseId of(String text) {
        ByteBuffer digest = ByteBuffer.wrap(hash.of(text.getBytes(StandardCharsets.UTF_8)));
        return new LeaseId(digest.getLong(), digest.getLong());
    }
}

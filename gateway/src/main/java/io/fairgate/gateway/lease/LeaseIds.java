package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.tenant.TenantId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The id of the lease that a tenant acquires under a key: always the same, so that a call that is repeated finds the lease
 * of the first one, and nobody has to keep the keys. Under a secret that ends with the process: nobody else can say which
 * id it is.
 */
final class LeaseIds {

    private static final String ALGORITHM = "HmacSHA256";
    private static final int SECRET_BYTES = 32;

    /** Is copied for each use: it is not safe for threads. */
    private final Mac keyed;

    LeaseIds() {
        byte[] secret = new byte[SECRET_BYTES];
        new SecureRandom().nextBytes(secret);
        try {
            keyed = Mac.getInstance(ALGORITHM);
            keyed.init(new SecretKeySpec(secret, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }

    /** @param key without line breaks, as an id of a tenant is */
    LeaseId of(TenantId tenant, String key) {
        ByteBuffer digest =
                ByteBuffer.wrap(copy().doFinal((tenant.value() + "\n" + key).getBytes(StandardCharsets.UTF_8)));
        return new LeaseId(digest.getLong(), digest.getLong());
    }

    private Mac copy() {
        try {
            return (Mac) keyed.clone();
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's own can be copied", e);
        }
    }
}

package io.fairgate.lease;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA-256 with one key. Thread-safe. */
public final class KeyedHash {

    public static final int BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";

    /** Cloned for each use, because it is not thread-safe. */
    private final Mac keyed;

    public KeyedHash(byte[] key) {
        try {
            keyed = Mac.getInstance(ALGORITHM);
            keyed.init(new SecretKeySpec(key, ALGORITHM));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, e);
        }
    }

    public byte[] of(byte[] text) {
        try {
            return ((Mac) keyed.clone()).doFinal(text);
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("every Mac of the JDK can be cloned", e);
        }
    }
}

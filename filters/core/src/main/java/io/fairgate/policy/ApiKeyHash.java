package io.fairgate.policy;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The SHA-256 digest of an API key, which the gateway stores instead of the key. A plain digest is enough for keys that are
 * as long and as random as those that {@code fairgate api-key} makes; it would not be enough for passwords.
 *
 * @param hex the digest, 64 hexadecimal digits in lower case
 */
public record ApiKeyHash(String hex) {

    /** How many digits of the digest are the {@link #id()}. */
    public static final int ID_LENGTH = 8;

    private static final String PREFIX = "sha256:";
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

    /** @throws IllegalArgumentException when it is not a digest; the message does not repeat it, because it may be a key */
    public ApiKeyHash {
        if (!HEX.matcher(hex).matches()) {
            throw new IllegalArgumentException(
                    "api-keys: %d characters, not shown because they may be a key (expected: 64 hexadecimal digits in lower case)"
                            .formatted(hex.length()));
        }
    }

    /**
     * Reads {@code sha256:} and 64 hexadecimal digits.
     *
     * @throws IllegalArgumentException when it is something else; the message does not repeat it, because it may be a key
     */
    public static ApiKeyHash parse(String text) {
        if (!text.startsWith(PREFIX)) {
            throw new IllegalArgumentException(
                    "api-keys: %d characters, not shown because they may be a key (expected: sha256: and 64 hexadecimal digits in lower case)"
                            .formatted(text.length()));
        }
        return new ApiKeyHash(text.substring(PREFIX.length()));
    }

    /** The digest of a key, encoded as UTF-8. */
    public static ApiKeyHash of(String key) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return new ApiKeyHash(HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** The first digits of the digest: the name of the key in logs, and the index under which it is found. */
    public String id() {
        return hex.substring(0, ID_LENGTH);
    }

    /** Whether both digests are equal; takes the same time wherever they differ. */
    public boolean isSameAs(ApiKeyHash other) {
        return MessageDigest.isEqual(
                hex.getBytes(StandardCharsets.US_ASCII), other.hex.getBytes(StandardCharsets.US_ASCII));
    }

    /** The form in the policy file. */
    public String text() {
        return PREFIX + hex;
    }

    /** Only the id, so that no log shows the whole digest by accident. */
    @Override
    public String toString() {
        return PREFIX + id() + "…";
    }
}

package io.fairgate.tenant;

/**
 * The name of a tenant: 1 to 64 characters out of {@code [A-Za-z0-9._-]}.
 *
 * <p>The alphabet is narrow: headers, metric tags, logs and keys of a backend need not escape an id.
 *
 * @param value the id as it was sent
 */
public record TenantId(String value) {

    /** The longest id, in characters. */
    public static final int MAX_LENGTH = 64;

    /**
     * The one tenant that all ids share which are not members, when the policy admits unknown ids. The id of a member may not
     * begin with an underscore, so no member can have this id.
     */
    public static final TenantId UNKNOWN = new TenantId("_unknown");

    /** @throws IllegalArgumentException when the id is not well-formed; the message does not repeat the id */
    public TenantId {
        if (!isWellFormed(value)) {
            throw new IllegalArgumentException(
                    "tenant id: %d characters (expected: 1 to %d characters of [A-Za-z0-9._-])"
                            .formatted(value.length(), MAX_LENGTH));
        }
    }

    public static TenantId of(String value) {
        return new TenantId(value);
    }

    public static boolean isWellFormed(String value) {
        if (value.isEmpty() || value.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < value.length(); i++) {
            if (!isAllowed(value.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isAllowed(char c) {
        return (c >= 'A' && c <= 'Z')
                || (c >= 'a' && c <= 'z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }

    @Override
    public String toString() {
        return value;
    }
}

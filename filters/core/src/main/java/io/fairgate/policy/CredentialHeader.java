package io.fairgate.policy;

import org.jspecify.annotations.Nullable;

/**
 * The header from which a source identifies the tenant of a request.
 *
 * @param scheme what precedes the value, such as {@code Bearer}; null for nothing
 * @param forwarding what the upstream gets of the header
 */
public record CredentialHeader(String name, @Nullable String scheme, Forwarding forwarding) {

    /** What the upstream gets of a header. In none of the cases it gets a value that the gateway has not verified. */
    public enum Forwarding {
        /** Nothing: the value is removed before the filters of the route run. */
        REMOVED,
        /** The value that the client sent. */
        UNCHANGED,
        /** Nothing: the header is removed after the filters of the route, and the gateway names the tenant in its own. */
        REPLACED
    }

    public CredentialHeader {
        HeaderName.checked("header", name);
        if (scheme != null && !scheme.matches("[A-Za-z0-9._-]{1,32}")) {
            throw new IllegalArgumentException("scheme: %s (expected: a word such as Bearer)".formatted(scheme));
        }
    }

    /** A header whose value is forwarded, or else removed. */
    public CredentialHeader(String name, @Nullable String scheme, boolean forwarded) {
        this(name, scheme, forwarded ? Forwarding.UNCHANGED : Forwarding.REMOVED);
    }

    /** Whether both are found in the same values. */
    boolean overlaps(CredentialHeader other) {
        return name.equalsIgnoreCase(other.name)
                && (scheme == null || other.scheme == null || scheme.equalsIgnoreCase(other.scheme));
    }
}

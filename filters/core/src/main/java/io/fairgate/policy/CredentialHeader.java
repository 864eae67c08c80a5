package io.fairgate.policy;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The header from which a source identifies the tenant of a request.
 *
 * @param scheme what precedes the value, such as {@code Bearer}; null for nothing
 * @param forwarding what the upstream gets of the header
 */
public record CredentialHeader(String name, @Nullable String scheme, Forwarding forwarding) {

    /** A token of RFC 9110, 5.1. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");

    /** Headers that frame or route a message: changing them would break the connection. */
    private static final Set<String> OF_THE_MESSAGE = Set.of(
            "connection",
            "content-length",
            "expect",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

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
        requireUsable("header", name);
        if (scheme != null && !scheme.matches("[A-Za-z0-9._-]{1,32}")) {
            throw new IllegalArgumentException("scheme: %s (expected: a word such as Bearer)".formatted(scheme));
        }
    }

    /** A header whose value is forwarded, or else removed. */
    public CredentialHeader(String name, @Nullable String scheme, boolean forwarded) {
        this(name, scheme, forwarded ? Forwarding.UNCHANGED : Forwarding.REMOVED);
    }

    /** Whether this can be the name of a header. */
    static boolean isName(String name) {
        return NAME.matcher(name).matches();
    }

    /** Refuses what is not the name of a header, headers that HTTP itself needs, and those that the gateway sets. */
    static void requireUsable(String key, String name) {
        if (!isName(name)) {
            throw new IllegalArgumentException("%s: %s (expected: the name of an HTTP header)".formatted(key, name));
        }
        if (OF_THE_MESSAGE.contains(name.toLowerCase(Locale.ROOT))) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: a header that HTTP itself does not need)".formatted(key, name));
        }
        if (TrustedProxies.isSetByGateway(name)) {
            throw new IllegalArgumentException(
                    "%s: %s (expected: none of Forwarded, X-Real-IP and X-Forwarded-For, -Proto, -Host and -Port, which the gateway sets)"
                            .formatted(key, name));
        }
    }

    /** Whether both are found in the same values. */
    boolean overlaps(CredentialHeader other) {
        return name.equalsIgnoreCase(other.name)
                && (scheme == null || other.scheme == null || scheme.equalsIgnoreCase(other.scheme));
    }
}

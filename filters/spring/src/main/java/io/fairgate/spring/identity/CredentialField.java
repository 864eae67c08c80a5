package io.fairgate.spring.identity;

import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The header that carries a credential.
 *
 * @param scheme the scheme before the credential; null when the credential stands alone
 */
record CredentialField(String header, @Nullable String scheme) {

    /**
     * The credential; null when there is none of this scheme.
     *
     * @throws IdentityRefusedException when there are several, when there is an empty one, or when the scheme occurs
     *     elsewhere in a value
     */
    @Nullable
    String value(HttpHeaders headers) {
        List<String> values = headers.getOrDefault(header, List.of());
        String found = null;
        for (String value : values) {
            int start = start(value);
            if (isElsewhere(value, start)) {
                throw new IdentityRefusedException(Reason.MALFORMED);
            }
            if (start >= 0) {
                if (found != null || value.substring(start).isBlank()) {
                    throw new IdentityRefusedException(Reason.MALFORMED);
                }
                found = value.substring(start).strip();
            }
        }
        return found;
    }

    /** Whether a value of this header is a credential of this kind. */
    boolean carries(String value) {
        int start = start(value);
        return start >= 0 || isElsewhere(value, start);
    }

    /**
     * Whether the scheme occurs behind something else, where the gateway does not check what follows:
     * {@code Basic eA==, Bearer ey…}. Some servers search the whole line for it.
     */
    private boolean isElsewhere(String value, int start) {
        if (scheme == null) {
            return false;
        }
        // Skips the first word: it is the scheme of the value, and may end like this one.
        int from = start >= 0 ? start : endOfName(value, firstOfName(value));
        for (int i = from; i + scheme.length() < value.length(); i++) {
            if (value.regionMatches(true, i, scheme, 0, scheme.length())
                    && Character.isWhitespace(value.charAt(i + scheme.length()))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Where the credential starts; below 0 when the value has another scheme. The scheme is not case-sensitive (RFC
     * 9110, 11.1), and a space separates it from the credential. But some upstreams split at other characters, so every
     * character that cannot be part of a scheme's name ends the scheme here, and may precede it: otherwise an upstream
     * could accept a credential that the gateway has not checked.
     */
    private int start(String value) {
        if (scheme == null) {
            return 0;
        }
        int from = firstOfName(value);
        int end = from + scheme.length();
        return value.regionMatches(true, from, scheme, 0, scheme.length())
                        && (end == value.length() || !isOfName(value.charAt(end)))
                ? end
                : -1;
    }

    private static int firstOfName(String value) {
        int first = 0;
        while (first < value.length() && !isOfName(value.charAt(first))) {
            first++;
        }
        return first;
    }

    private static int endOfName(String value, int first) {
        int end = first;
        while (end < value.length() && isOfName(value.charAt(end))) {
            end++;
        }
        return end;
    }

    /** The characters of a token (RFC 9110, 5.6.2). */
    private static boolean isOfName(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || "!#$%&'*+-.^_`|~".indexOf(c) >= 0;
    }
}

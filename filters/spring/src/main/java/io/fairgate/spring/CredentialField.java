package io.fairgate.spring;

import io.fairgate.spring.IdentityRefusedException.Reason;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The header that carries a credential.
 *
 * @param scheme what precedes the credential; null when it is alone
 */
record CredentialField(String header, @Nullable String scheme) {

    /**
     * The credential; null when there is none of this scheme.
     *
     * @throws IdentityRefusedException when there are several, or what is there is empty
     */
    @Nullable
    String value(HttpHeaders headers) {
        List<String> values = headers.getOrDefault(header, List.of());
        String found = null;
        for (String value : values) {
            if (carries(value)) {
                String credential = scheme == null ? value : value.substring(scheme.length());
                if (found != null || credential.isBlank()) {
                    throw new IdentityRefusedException(Reason.MALFORMED);
                }
                found = credential.strip();
            }
        }
        return found;
    }

    /** Whether a value of this header is a credential of this kind. The scheme is written in any letters (RFC 9110, 11.1). */
    boolean carries(String value) {
        return scheme == null
                || (value.regionMatches(true, 0, scheme, 0, scheme.length())
                        && (value.length() == scheme.length() || value.charAt(scheme.length()) == ' '));
    }
}

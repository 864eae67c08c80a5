package io.fairgate.spring.identity;

import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.CredentialHeader.Forwarding;
import io.fairgate.spring.exchange.HeaderVariants;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * Finds the credential of one source in its header.
 *
 * <p>The scheme is not case-sensitive (RFC 9110, 11.1), and a space separates it from the credential. But some
 * upstreams split at other characters, so every character that cannot be part of a scheme's name ends the scheme here,
 * and may precede it: otherwise an upstream could accept a credential that the gateway has not checked.
 */
final class CredentialExtractor {

    /** The characters of a token (RFC 9110, 5.6.2), of which the name of a scheme consists. */
    private static final String NAME = "A-Za-z0-9!#$%&'*+.^_`|~-";

    private final CredentialHeader header;

    /** The text before the credential. */
    private final Pattern start;

    /**
     * The scheme behind something that the gateway does not check, as in {@code Basic eA==, Bearer ey…}: some servers
     * search the whole line for it. Skips the first word, which is the scheme of the value, and may end like this one.
     */
    private final Pattern elsewhere;

    CredentialExtractor(CredentialHeader header) {
        this.header = header;
        String scheme = header.scheme() == null ? "" : Pattern.quote(header.scheme());
        start = pattern(scheme.isEmpty() ? "" : "[^%1$s]*+%2$s(?![%1$s])", scheme);
        elsewhere = pattern(scheme.isEmpty() ? "(?!)" : "[^%1$s]*+[%1$s]*+.*?%2$s\\p{javaWhitespace}", scheme);
    }

    private static Pattern pattern(String format, String scheme) {
        return Pattern.compile(format.formatted(NAME, scheme), Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    }

    /**
     * The credential, with the space around it; null when the headers have no credential of this source. Throws if it is
     * malformed, or if the headers have another one.
     */
    @Nullable
    String value(HttpHeaders headers) {
        String found = null;
        for (String value : headers.getOrDefault(header.name(), List.of())) {
            if (header.scheme() == null) {
                if (found != null || value.isBlank()) {
                    throw new IdentityRefusedException(Reason.MALFORMED);
                }
                found = value;
                continue;
            }
            Matcher before = start.matcher(value);
            String credential = before.lookingAt() ? value.substring(before.end()) : null;
            boolean isSecondOrEmpty = credential != null && (found != null || credential.isBlank());
            if (isSecondOrEmpty || elsewhere.matcher(value).lookingAt()) {
                throw new IdentityRefusedException(Reason.MALFORMED);
            }
            found = credential == null ? found : credential;
        }
        return found;
    }

    /** Whether a value of this header is a credential of this source, or could be taken for one. */
    boolean carries(String value) {
        return start.matcher(value).lookingAt() || elsewhere.matcher(value).lookingAt();
    }

    /**
     * Whether the header of this name loses such values before the filters of the route run. Of a header that is
     * forwarded these are the variants of its name, because nothing has verified what they hold.
     */
    boolean isRemovedFrom(String name) {
        return HeaderVariants.isSame(name, header.name())
                && !(header.forwarding() == Forwarding.UNCHANGED && name.equalsIgnoreCase(header.name()));
    }
}

package io.fairgate.spring.identity;

import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The challenges for the identity sources of a policy that a client can use: API keys and tokens. A plain header is for proxies
 * only, and its name is no business of a stranger; a certificate belongs to the connection. Written once for each policy: a
 * client without an identity may send many requests.
 */
final class Challenges {

    private static volatile @Nullable Challenges latest;

    private final Identification identification;
    private final List<String> usual;
    private final List<String> afterInvalidToken;

    private Challenges(Identification identification) {
        this.identification = identification;
        usual = challenges(identification.sources(), false);
        afterInvalidToken = challenges(identification.sources(), true);
    }

    /** At least one: RFC 9110, 11.6.1 demands it. */
    private static List<String> challenges(List<IdentitySource> sources, boolean invalidToken) {
        List<String> all = new ArrayList<>();
        for (IdentitySource source : sources) {
            CredentialHeader header = source.header();
            if (header != null && !(source instanceof IdentitySource.Header)) {
                all.add(challenge(header, invalidToken && source instanceof IdentitySource.Jwt));
            }
        }
        return all.isEmpty() ? List.of("Fairgate realm=\"fairgate\"") : List.copyOf(all);
    }

    @SuppressWarnings("ReferenceEquality") // Equal ones of two policies are only written again.
    static Challenges of(Identification identification) {
        Challenges known = latest;
        if (known == null || known.identification != identification) {
            known = new Challenges(identification);
            latest = known;
        }
        return known;
    }

    void add(HttpHeaders headers, boolean invalidToken) {
        List<String> challenges = invalidToken ? afterInvalidToken : usual;
        for (int i = 0; i < challenges.size(); i++) {
            headers.add(HttpHeaders.WWW_AUTHENTICATE, challenges.get(i));
        }
    }

    /** The challenge for one header. RFC 6750 defines that of {@code Bearer}; other headers have no scheme. */
    private static String challenge(CredentialHeader header, boolean invalidToken) {
        String scheme = header.scheme();
        if (scheme == null) {
            return "Fairgate header=\"%s\"".formatted(header.name());
        }
        if (!HttpHeaders.AUTHORIZATION.equalsIgnoreCase(header.name())) {
            return "Fairgate header=\"%s\", scheme=\"%s\"".formatted(header.name(), scheme);
        }
        return scheme + " realm=\"fairgate\"" + (invalidToken ? ", error=\"invalid_token\"" : "");
    }
}

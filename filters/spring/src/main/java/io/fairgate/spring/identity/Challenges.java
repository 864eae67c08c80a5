package io.fairgate.spring.identity;

import io.fairgate.policy.CredentialHeader;
import io.fairgate.policy.Identification;
import io.fairgate.policy.IdentitySource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/**
 * The challenges for the identity sources of a policy. Written once for each policy: a client without an identity may send
 * many requests.
 */
final class Challenges {

    private static volatile @Nullable Challenges latest;

    private final Identification identification;
    private final List<String> usual;
    private final List<String> afterInvalidToken;

    private Challenges(Identification identification) {
        this.identification = identification;
        List<IdentitySource> sources = identification.sources();
        usual = sources.stream().map(source -> challenge(source, false)).toList();
        afterInvalidToken =
                sources.stream().map(source -> challenge(source, true)).toList();
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

    /** The challenge for one source. RFC 6750 defines that of {@code Bearer}; other headers have no scheme. */
    private static String challenge(IdentitySource source, boolean invalidToken) {
        CredentialHeader header = source.header();
        if (header == null) {
            return source instanceof IdentitySource.ClientCertificate certificate
                    ? "Fairgate certificate=\"%s\"".formatted(certificate.name().label())
                    : "Fairgate " + source.kind().key();
        }
        String scheme = header.scheme();
        if (scheme == null) {
            return "Fairgate header=\"%s\"".formatted(header.name());
        }
        if (!HttpHeaders.AUTHORIZATION.equalsIgnoreCase(header.name())) {
            return "Fairgate header=\"%s\", scheme=\"%s\"".formatted(header.name(), scheme);
        }
        boolean invalid = source instanceof IdentitySource.Jwt && invalidToken;
        return scheme + " realm=\"fairgate\"" + (invalid ? ", error=\"invalid_token\"" : "");
    }
}

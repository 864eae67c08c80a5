package io.fairgate.policy;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The requirements for a JSON Web Token (RFC 7519) that names a tenant. Every token must have an expiry.
 *
 * @param issuer the value that {@code iss} must have
 * @param audience a value that {@code aud} must contain
 * @param claim the path to the claim with the tenant's id, such as {@code tenant} or {@code org.tenant}; a claim whose name
 *     has dots, such as a URL, is looked up by its whole name first
 * @param algorithms the allowed signature algorithms, by their names in RFC 7518; only those of {@link #ALGORITHMS}
 * @param skew how far the issuer's clock may be off, for {@code exp} and {@code nbf}
 */
public record TokenRules(String issuer, String audience, String claim, Set<String> algorithms, Duration skew) {

    /**
     * The algorithms that can be allowed: signatures with a private key. {@code none} and HMAC algorithms are not supported:
     * the key of an HMAC would be the public key, which anyone can read.
     */
    public static final List<String> ALGORITHMS =
            List.of("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512");

    public static final List<String> DEFAULT_ALGORITHMS = List.of("RS256", "PS256", "ES256");
    public static final String DEFAULT_CLAIM = "tenant";
    public static final Duration DEFAULT_SKEW = Duration.ofSeconds(30);
    public static final Duration MAX_SKEW = Duration.ofSeconds(60);

    public TokenRules {
        algorithms = Set.copyOf(algorithms);
        if (issuer.isBlank()) {
            throw new IllegalArgumentException("issuer: nothing (expected: the value of iss in the tokens)");
        }
        if (audience.isBlank()) {
            throw new IllegalArgumentException("audience: nothing (expected: a value of aud in the tokens)");
        }
        if (claim.isBlank()) {
            throw new IllegalArgumentException("claim: nothing (expected: the claim that holds the tenant's id)");
        }
        if (algorithms.isEmpty() || !ALGORITHMS.containsAll(algorithms)) {
            throw new IllegalArgumentException("algorithms: %s (expected: some of %s)"
                    .formatted(String.join(", ", algorithms), String.join(", ", ALGORITHMS)));
        }
        if (skew.isNegative() || skew.compareTo(MAX_SKEW) > 0) {
            throw new IllegalArgumentException("skew: %s (expected: 0s to %ds)".formatted(skew, MAX_SKEW.toSeconds()));
        }
    }
}

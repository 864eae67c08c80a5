package io.fairgate.spring.autoconfigure;

import io.fairgate.spring.settings.DurationSetting;

import io.fairgate.policy.Cidr;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.IdentitySource.CertificateName;
import io.fairgate.policy.KeySetLocation;
import io.fairgate.policy.TokenRules;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * One way to learn the tenant: a header with the networks whose peers may send it, or an API key, or a token, or a
 * client certificate.
 *
 * @param header the header that names the tenant
 * @param trustedFrom networks whose peers may send it
 */
public record IdentifyProperties(
        @Nullable String header,
        @DefaultValue List<String> trustedFrom,
        @Nullable ApiKey apiKey,
        @Nullable Jwt jwt,
        @Nullable ClientCertificate clientCertificate) {

    /**
     * A key of which the policy has the digest.
     *
     * @param header the header that carries it
     * @param scheme what precedes it there, such as {@code Bearer}
     * @param forward whether the upstream gets it as well
     */
    public record ApiKey(@Nullable String header, @Nullable String scheme, boolean forward) {

        private IdentitySource source(PropertyPath at) {
            String named = at.at("header").required(header, "the header that carries the key");
            return at.read(() -> new IdentitySource.ApiKey(named, scheme, forward));
        }
    }

    /**
     * A JSON Web Token.
     *
     * @param header the header that carries it
     * @param issuer what its {@code iss} must be
     * @param audience what its {@code aud} must hold
     * @param claim the claim that is the tenant's id
     * @param algorithms of its signature
     * @param jwks where the issuer's keys are: a URL or a file
     * @param refresh how long keys are used before they are fetched again
     * @param skew how far the issuer's clock may be off
     * @param forward whether the upstream gets it as well
     */
    public record Jwt(
            @DefaultValue(IdentitySource.Jwt.DEFAULT_HEADER) String header,
            @Nullable String issuer,
            @Nullable String audience,
            @DefaultValue(TokenRules.DEFAULT_CLAIM) String claim,
            @Nullable Set<String> algorithms,
            @Nullable String jwks,
            @Nullable DurationSetting refresh,
            @Nullable DurationSetting skew,
            @DefaultValue("true") boolean forward) {

        private IdentitySource source(PropertyPath at) {
            return at.read(() -> new IdentitySource.Jwt(
                    header,
                    forward,
                    new TokenRules(
                            issuer == null ? "" : issuer,
                            audience == null ? "" : audience,
                            claim,
                            algorithms == null ? Set.copyOf(TokenRules.DEFAULT_ALGORITHMS) : algorithms,
                            skew == null ? TokenRules.DEFAULT_SKEW : skew.value()),
                    new KeySetLocation(
                            jwks == null ? "" : jwks,
                            refresh == null ? KeySetLocation.DEFAULT_REFRESH : refresh.value())));
        }
    }

    /**
     * The client's certificate.
     *
     * @param name which of its names is the tenant's: {@code subject-cn}, {@code san-dns}, {@code san-uri} or
     *     {@code san-email}
     */
    public record ClientCertificate(@Nullable String name) {

        private IdentitySource source(PropertyPath at) {
            String named = at.at("name").required(name, "one of " + String.join(", ", CertificateName.labels()));
            return at.read(() -> new IdentitySource.ClientCertificate(CertificateName.of(named)));
        }
    }

    /** @param at where it stands, for messages */
    IdentitySource source(PropertyPath at) {
        long ways = Stream.of(header, apiKey, jwt, clientCertificate)
                .filter(way -> way != null)
                .count();
        if (ways != 1) {
            throw at.mistake("%d ways (expected: one of header, api-key, jwt, client-certificate)".formatted(ways));
        }
        if (header != null) {
            List<Cidr> networks = at.at("trusted-from")
                    .parsed(() -> trustedFrom.stream().map(Cidr::parse).toList());
            return at.read(() -> new IdentitySource.Header(header, networks));
        }
        if (!trustedFrom.isEmpty()) {
            throw at.at("trusted-from")
                    .mistake("%s (expected: nothing: only peers that send a plain header are trusted)"
                            .formatted(trustedFrom));
        }
        if (apiKey != null) {
            return apiKey.source(at.at("api-key"));
        } else if (jwt != null) {
            return jwt.source(at.at("jwt"));
        } else if (clientCertificate != null) {
            return clientCertificate.source(at.at("client-certificate"));
        } else {
            throw new IllegalStateException("counted above");
        }
    }
}

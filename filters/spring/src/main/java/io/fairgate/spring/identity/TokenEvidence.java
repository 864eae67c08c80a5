package io.fairgate.spring.identity;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.source.JWKSecurityContextJWKSet;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWKSecurityContext;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.TokenRules;
import io.fairgate.spring.exchange.Exchanges;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.text.ParseException;
import java.time.InstantSource;
import java.util.Date;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Identification by a JSON Web Token. Nimbus parses and verifies it. This class decides which keys and algorithms are
 * used, always those of the policy and never those of the token, and which claim names the tenant.
 */
final class TokenEvidence implements Evidence.Reader {

    /** In characters. Netty accepts no longer header by default. */
    static final int LONGEST = 8192;

    private static final int LONGEST_KEY_ID = 256;

    private final CredentialField field;
    private final TokenRules rules;
    private final Set<JWSAlgorithm> algorithms;
    private final IssuerKeys keys;
    private final DefaultJWTProcessor<JWKSecurityContext> processor = new DefaultJWTProcessor<>();

    TokenEvidence(IdentitySource.Jwt source, IssuerKeys keys, InstantSource clock) {
        this.field = new CredentialField(source.header(), source.scheme());
        this.rules = source.rules();
        this.keys = keys;
        this.algorithms = rules.algorithms().stream().map(JWSAlgorithm::parse).collect(Collectors.toUnmodifiableSet());
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithms, new JWKSecurityContextJWKSet()));
        processor.setJWTClaimsSetVerifier(new Claims(rules, clock));
    }

    @Override
    public Mono<Evidence> read(ServerWebExchange exchange) {
        String text = field.value(exchange.getRequest().getHeaders());
        if (text == null) {
            return Mono.empty();
        }
        SignedJWT token = parsed(text);
        String keyId = token.getHeader().getKeyID();
        Executor home = Exchanges.eventLoop(exchange);
        return (keyId == null ? keys.all(home) : keys.with(keyId, home))
                .switchIfEmpty(Mono.error(() -> new IdentityRefusedException(Reason.UNAVAILABLE)))
                .map(found -> new Evidence(tenant(verified(token, found)), null));
    }

    /** Parses the token, and refuses one that cannot pass before any keys are fetched for it. */
    private SignedJWT parsed(String text) {
        try {
            SignedJWT token = text.length() > LONGEST ? null : SignedJWT.parse(text);
            if (token != null
                    && algorithms.contains(token.getHeader().getAlgorithm())
                    && (token.getHeader().getKeyID() == null
                            || token.getHeader().getKeyID().length() <= LONGEST_KEY_ID)) {
                return token;
            }
        } catch (ParseException e) {
            // Refused below, without the contents of the token.
        }
        throw new IdentityRefusedException(Reason.INVALID_TOKEN);
    }

    private JWTClaimsSet verified(SignedJWT token, JWKSet set) {
        try {
            return processor.process(token, new JWKSecurityContext(set.getKeys()));
        } catch (BadJOSEException | JOSEException e) {
            throw new IdentityRefusedException(Reason.INVALID_TOKEN);
        }
    }

    private TenantId tenant(JWTClaimsSet claims) {
        if (!(claim(claims.getClaims(), rules.claim()) instanceof String named)) {
            throw new IdentityRefusedException(Reason.INVALID_TOKEN);
        }
        if (!TenantId.isWellFormed(named)) {
            throw new IdentityRefusedException(Reason.MALFORMED);
        }
        return TenantId.of(named);
    }

    /** Finds a claim by its whole name, which may be a URL, or else by its dotted path. */
    private static @Nullable Object claim(Map<String, Object> claims, String path) {
        if (claims.containsKey(path)) {
            return claims.get(path);
        }
        Object found = claims;
        for (String name : path.split("\\.", -1)) {
            found = found instanceof Map<?, ?> map ? map.get(name) : null;
        }
        return found;
    }

    /** Checks the issuer, the audience, and the times by the gateway's clock. */
    private static final class Claims extends DefaultJWTClaimsVerifier<JWKSecurityContext> {

        private final InstantSource clock;

        Claims(TokenRules rules, InstantSource clock) {
            super(
                    rules.audience(),
                    new JWTClaimsSet.Builder().issuer(rules.issuer()).build(),
                    Set.of("exp"));
            this.clock = clock;
            setMaxClockSkew(Math.toIntExact(rules.skew().toSeconds()));
        }

        @Override
        protected Date currentTime() {
            return Date.from(clock.instant());
        }
    }
}

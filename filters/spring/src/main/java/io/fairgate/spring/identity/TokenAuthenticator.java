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
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.tenant.TenantId;
import java.text.ParseException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Identification by a JSON Web Token. Nimbus parses and verifies it. This class decides which keys and algorithms are
 * used, always those of the policy and never those of the token, and which claim names the tenant.
 */
final class TokenAuthenticator implements Authenticator {

    /** In characters. Netty accepts no longer header by default. */
    static final int LONGEST = 8192;

    private static final int LONGEST_KEY_ID = 256;

    private final TokenRules rules;
    private final Set<JWSAlgorithm> algorithms;
    private final IssuerKeys keys;
    private final DefaultJWTProcessor<JWKSecurityContext> processor = new DefaultJWTProcessor<>();

    TokenAuthenticator(IdentitySource.Jwt source, IssuerKeys keys) {
        this.rules = source.rules();
        this.keys = keys;
        this.algorithms = rules.algorithms().stream().map(JWSAlgorithm::parse).collect(Collectors.toUnmodifiableSet());
        processor.setJWSTypeVerifier(
                new DefaultJOSEObjectTypeVerifier<>(JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(algorithms, new JWKSecurityContextJWKSet()));
        DefaultJWTClaimsVerifier<JWKSecurityContext> claims = new DefaultJWTClaimsVerifier<>(
                rules.audience(),
                new JWTClaimsSet.Builder().issuer(rules.issuer()).build(),
                Set.of("exp"));
        claims.setMaxClockSkew(Math.toIntExact(rules.skew().toSeconds()));
        processor.setJWTClaimsSetVerifier(claims);
    }

    @Override
    public Mono<Authentication> authenticate(Credential credential) {
        String text = credential.value();
        if (text == null) {
            return Mono.empty();
        }
        SignedJWT token = parsed(text.strip());
        String keyId = token.getHeader().getKeyID();
        Executor eventLoop = credential.eventLoop();
        return (keyId == null ? keys.all(eventLoop) : keys.with(keyId, eventLoop))
                .switchIfEmpty(Mono.error(() -> new IdentityRefusedException(Reason.IDENTITY_UNAVAILABLE)))
                .map(found -> new Authentication(tenant(verified(token, found)), null));
    }

    /** Parses the token, and refuses one that cannot pass before any keys are fetched for it. */
    private SignedJWT parsed(String text) {
        if (text.length() > LONGEST) {
            throw IdentityRefusedException.ofToken(TokenFault.TOO_LONG);
        }
        SignedJWT token;
        try {
            token = SignedJWT.parse(text);
        } catch (ParseException e) {
            throw IdentityRefusedException.ofToken(TokenFault.NOT_SIGNED);
        }
        String keyId = token.getHeader().getKeyID();
        if (!algorithms.contains(token.getHeader().getAlgorithm())) {
            throw IdentityRefusedException.ofToken(TokenFault.ALGORITHM);
        } else if (keyId != null && keyId.length() > LONGEST_KEY_ID) {
            throw IdentityRefusedException.ofToken(TokenFault.KEY_ID_TOO_LONG);
        }
        return token;
    }

    private JWTClaimsSet verified(SignedJWT token, JWKSet set) {
        try {
            return processor.process(token, new JWKSecurityContext(set.getKeys()));
        } catch (BadJOSEException | JOSEException e) {
            throw IdentityRefusedException.ofToken(TokenFault.of(e, token, rules));
        }
    }

    private TenantId tenant(JWTClaimsSet claims) {
        if (!(claim(claims.getClaims(), rules.claim()) instanceof String named)) {
            throw IdentityRefusedException.ofToken("it has no claim " + rules.claim());
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
}

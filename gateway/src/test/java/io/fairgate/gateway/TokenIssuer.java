package io.fairgate.gateway;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.opts.AllowWeakRSAKey;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Instant;
import java.util.Arrays;
import java.util.Date;
import java.util.Map;
import java.util.Set;

/** Signs tokens, good ones and forged ones. */
final class TokenIssuer {

    static final String ISSUER = "https://login.test/";
    static final String AUDIENCE = "fairgate";

    private TokenIssuer() {}

    static RSAKey rsa(String keyId) {
        return rsa(keyId, 2048);
    }

    static RSAKey rsa(String keyId, int bits) {
        try {
            return new RSAKeyGenerator(bits, true).keyID(keyId).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    static ECKey ec(String keyId) {
        try {
            return new ECKeyGenerator(Curve.P_256).keyID(keyId).generate();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The public part of these keys. */
    static String published(JWK... keys) {
        return new JWKSet(Arrays.asList(keys)).toString(true);
    }

    /** The claims of an ordinary token of a tenant. */
    static JWTClaimsSet.Builder claims(Object tenant) {
        return new JWTClaimsSet.Builder()
                .issuer(ISSUER)
                .audience(AUDIENCE)
                .expirationTime(inSeconds(300))
                .claim("org", Map.of("tenant", tenant));
    }

    static Date inSeconds(int seconds) {
        return Date.from(Instant.now().plusSeconds(seconds));
    }

    static JWSHeader.Builder header(JWSAlgorithm algorithm, JWK key) {
        return new JWSHeader.Builder(algorithm).keyID(key.getKeyID());
    }

    static String signed(JWSAlgorithm algorithm, JWK key, JWTClaimsSet claims) {
        return signed(header(algorithm, key).build(), key, claims);
    }

    static String signed(JWSHeader header, JWK key, JWTClaimsSet claims) {
        try {
            SignedJWT token = new SignedJWT(header, claims);
            token.sign(
                    key instanceof ECKey ec
                            ? new ECDSASigner(ec)
                            : new RSASSASigner(key.toRSAKey().toPrivateKey(), Set.of(AllowWeakRSAKey.getInstance())));
            return token.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }
}

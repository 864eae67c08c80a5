package io.fairgate.spring.identity;

import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.BadJWSException;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import com.nimbusds.jwt.proc.ExpiredJWTException;
import io.fairgate.policy.TokenRules;
import java.text.ParseException;
import java.time.Instant;
import java.util.Date;

/** Says why a token was not accepted, for an operator: in words of our own, without anything of the token. */
final class TokenFault {

    static final String NOT_SIGNED = "it is not a signed token";
    static final String TOO_LONG = "it is too long";
    static final String KEY_ID_TOO_LONG = "the id of its key is too long";
    static final String ALGORITHM = "its algorithm is not allowed";

    private TokenFault() {}

    /** @param failure of Nimbus, which checks the signature before the claims */
    static String of(Exception failure, SignedJWT token, TokenRules rules) {
        if (failure instanceof ExpiredJWTException) {
            return "it has expired";
        } else if (failure instanceof BadJWTException) {
            return ofClaims(token, rules);
        } else if (failure instanceof BadJWSException) {
            return "its signature is not valid";
        } else if (failure instanceof BadJOSEException) {
            return "no key of the issuer fits it, or it is a token of another type";
        }
        return "it cannot be verified";
    }

    private static String ofClaims(SignedJWT token, TokenRules rules) {
        try {
            JWTClaimsSet claims = token.getJWTClaimsSet();
            if (claims.getExpirationTime() == null) {
                return "it has no expiry";
            } else if (!rules.issuer().equals(claims.getIssuer())) {
                return "it is of another issuer";
            } else if (!claims.getAudience().contains(rules.audience())) {
                return "it is for another audience";
            }
            Date notBefore = claims.getNotBeforeTime();
            return notBefore != null && notBefore.toInstant().isAfter(Instant.now())
                    ? "it is not valid yet"
                    : "its claims are not valid";
        } catch (ParseException e) {
            return "its claims cannot be read";
        }
    }
}

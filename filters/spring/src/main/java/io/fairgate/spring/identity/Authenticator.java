package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import java.util.List;
import reactor.core.publisher.Mono;

/** Verifies the credentials of one source. */
interface Authenticator {

    /**
     * The result for one request; empty when the request has no credential of this source. Errors with, or throws, an
     * {@link IdentityRefusedException} when the credential is not valid.
     */
    Mono<Authentication> authenticate(Credential credential);

    /** Creates the authenticators of tokens. */
    interface Tokens {

        /** Without the library that verifies tokens: refuses to create an authenticator. */
        Tokens NONE = source -> {
            throw new IllegalStateException(
                    "tenants.identify: jwt (expected: com.nimbusds:nimbus-jose-jwt on the class path, which verifies tokens)");
        };

        Authenticator authenticator(IdentitySource.Jwt source);

        /** Forgets the keys that none of these sources names. */
        default void keepOnly(List<IdentitySource> sources) {}
    }

    /** Creates the authenticators by beans of the application. */
    interface Beans {
        Authenticator authenticator(IdentitySource.Bean source);
    }
}

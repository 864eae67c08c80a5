package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.tenant.TenantId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The result of one way of identification for a request.
 *
 * @param tenant the tenant id that it names
 * @param key the id of the API key that names it; null for another kind of credential
 */
record Evidence(TenantId tenant, @Nullable String key) {

    /** Reads one kind of credential from a request. */
    interface Reader {

        /**
         * The evidence; empty when the request has no credential of this kind. Errors with, or throws, an
         * {@link IdentityRefusedException} when the credential is not valid.
         */
        Mono<Evidence> read(ServerWebExchange exchange);
    }

    /** Creates the readers of tokens. Without the library that verifies tokens, {@link #NONE} takes its place. */
    interface Tokens {

        Reader reader(IdentitySource.Jwt source);

        /** Drops the keys that none of these sources uses. */
        void keepOnly(List<IdentitySource> sources);

        /** Without the library that verifies tokens: refuses to create a reader. */
        Tokens NONE = new Tokens() {
            @Override
            public Reader reader(IdentitySource.Jwt source) {
                throw new IllegalStateException(
                        "tenants.identify: jwt (expected: com.nimbusds:nimbus-jose-jwt on the class path, which verifies tokens)");
            }

            @Override
            public void keepOnly(List<IdentitySource> sources) {}
        };
    }
}

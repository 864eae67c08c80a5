package io.fairgate.spring.identity;

import io.fairgate.policy.IdentitySource;
import io.fairgate.tenant.TenantId;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * What one way of identification says about a request.
 *
 * @param tenant whom it names
 * @param key the id of the API key that says so; null when it is something else
 */
record Evidence(TenantId tenant, @Nullable String key) {

    /** One way of identification, ready to be asked. */
    interface Reader {

        /**
         * What the request shows; empty when it shows nothing of that kind. Fails with an
         * {@link IdentityRefusedException} when what it shows is not valid.
         */
        Mono<Evidence> read(ServerWebExchange exchange);
    }

    /** Makes the readers of tokens; without the library that verifies them, refuses to. */
    interface Tokens {

        Reader reader(IdentitySource.Jwt source);

        /** Forgets what was kept for ways that are none of these. */
        void keepOnly(List<IdentitySource> sources);

        /** What there is without the library. */
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

package io.fairgate.spring.identity;

import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Identifies the tenant by the user that Spring Security has authenticated. The bean {@code principal}, which the starter has where
 * Spring Security is, takes the name of the user for the id of the tenant. If the id is elsewhere, define another bean:
 *
 * <pre>{@code
 * @Bean
 * TenantResolver accountOfUser() {
 *     return new PrincipalTenantResolver(user -> ((Jwt) user.getPrincipal()).getClaimAsString("account"));
 * }
 * }</pre>
 *
 * <p>A request without an authenticated user, or with an anonymous one, does not use this way.
 */
public final class PrincipalTenantResolver implements TenantResolver {

    private final Function<? super Authentication, @Nullable String> tenant;

    /** @param tenant the id of the tenant to which a user belongs; null for a user without one, who is refused with 401 */
    public PrincipalTenantResolver(Function<? super Authentication, @Nullable String> tenant) {
        this.tenant = tenant;
    }

    @Override
    public Mono<String> resolve(ServerWebExchange exchange) {
        return exchange.getPrincipal()
                .ofType(Authentication.class)
                .filter(user -> user.isAuthenticated() && !(user instanceof AnonymousAuthenticationToken))
                .map(this::tenantOf);
    }

    private String tenantOf(Authentication user) {
        String id = tenant.apply(user);
        if (id == null) {
            throw new IdentityRefusedException(Reason.INVALID_CREDENTIAL);
        }
        return id;
    }
}

package io.fairgate.spring.identity;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Identifies tenants in a way of the application's own: by a session, by a credential of another format, or by the user that a
 * security framework has authenticated. The policy names the bean:
 *
 * <pre>{@code
 * tenants:
 *   identify:
 *     - bean: accountOfUser
 * }</pre>
 *
 * <p>The rules are those of all ways under {@code identify}: the first way that a request uses names its tenant, and every other way that
 * the request uses must name the same one.
 */
@FunctionalInterface
public interface TenantResolver {

    /**
     * The id of the tenant to which a request belongs, after its credentials have been <em>verified</em>. An id that no member of the policy has
     * is subject to {@code unknown}; text that is no id (1 to 64 characters of {@code [A-Za-z0-9._-]}) is refused with 400.
     *
     * <p>Called and subscribed to at most once for each request, on the event loop of its connection, which must not be blocked. The result may
     * come on any thread, and the request goes on on its event loop; of several ids, the first counts. The subscription is cancelled when
     * the client leaves, unless the gateway has not read the request's body, and so does not notice it. A result that takes longer than {@value ResolverAuthenticator#LONGEST_WAIT_SECONDS} seconds is an error.
     *
     * <p>The request is forwarded with everything that it came with, so the upstream gets the credential as well, unless a filter
     * of the route removes it.
     *
     * @param exchange the request with all its headers; the body must not be read, because it is for the upstream. On the port of the lease API, and for requests
     *     that are handled before Spring's filters, it has no principal and no attributes of such filters.
     * @return empty when the request does not use this way. Errors with an {@link IdentityRefusedException} when the request must be
     *     refused, most often for {@link IdentityRefusedException.Reason#INVALID_CREDENTIAL}. Every other error is logged, at most once a
     *     minute, and the request is refused with 503, for {@link IdentityRefusedException.Reason#IDENTITY_UNAVAILABLE}. Thrown exceptions
     *     are handled in the same way.
     */
    Mono<String> resolve(ServerWebExchange exchange);
}

package io.fairgate.spring.identity;

import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Decisions.Origin;
import io.fairgate.spring.refusal.RefusalMeters;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The step of the admission that identifies the tenant of a request, and refuses a request without one. */
public final class TenantCheck {

    private static final String NOTED = TenantCheck.class.getName() + ".noted";

    private final TenantIdentifier identifier;
    private final PolicyHolder policy;
    private final Decisions decisions;
    private final RefusalMeters refusals;

    TenantCheck(TenantIdentifier identifier, PolicyHolder policy, Decisions decisions, RefusalMeters refusals) {
        this.identifier = identifier;
        this.policy = policy;
        this.decisions = decisions;
        this.refusals = refusals;
    }

    /**
     * The tenant of the request. Errors with {@link IdentityRefusedException} when it has none that may pass; in a dry
     * run the refusal is noted, and emitted as {@link Identity.Refused}.
     */
    public Mono<Identity> identify(ServerWebExchange exchange) {
        return identifier.identify(exchange).flatMap(identity -> {
            if (identity instanceof Identity.Refused refused) {
                if (policy.current().enforcement().isOn()) {
                    refusals.refused(null, refused.why().reason().label, true);
                    return Mono.error(refused.why());
                }
                noteDryRun(exchange, refused.why());
            }
            return Mono.just(identity);
        });
    }

    /** Notes a request that would be refused, once, however many routes and steps ask for its tenant. */
    void noteDryRun(ServerWebExchange exchange, IdentityRefusedException why) {
        if (exchange.getAttributes().putIfAbsent(NOTED, true) == null) {
            refusals.refused(null, why.reason().label, false);
            decisions.noteDryRun(Origin.of(exchange), why);
        }
    }
}

package io.fairgate.spring.identity;

import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.policy.PolicyParticipant;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The step of the admission that identifies the tenant of a request, once for each request, by the
 * {@link IdentitySources} of the policy in force. Nothing is kept per id, so invented ids cost the gateway nothing.
 */
public final class TenantIdentifier implements PolicyParticipant {

    private static final String NOTED = TenantIdentifier.class.getName() + ".noted";

    private final PolicyHolder policy;
    private final Authenticator.Tokens tokens;
    private final Authenticator.Beans beans;
    private final Decisions decisions;
    private final RefusalMeters refusals;
    private volatile IdentitySources sources;
    /** For the policy that is being prepared. Used only by changes of the policy, which run one at a time. */
    private IdentitySources next;

    TenantIdentifier(
            PolicyHolder policy,
            Authenticator.Tokens tokens,
            Authenticator.Beans beans,
            Decisions decisions,
            RefusalMeters refusals) {
        this.policy = policy;
        this.tokens = tokens;
        this.beans = beans;
        this.decisions = decisions;
        this.refusals = refusals;
        this.next = new IdentitySources(policy.current(), tokens, beans);
        this.sources = next;
    }

    @Override
    public Order order() {
        return Order.IDENTIFICATION;
    }

    @Override
    public void prepare(Policy policy) {
        next = new IdentitySources(policy, tokens, beans);
    }

    @Override
    public void rollBack() {
        next = sources;
        tokens.keepOnly(this.policy.current().identification().sources());
    }

    @Override
    public void commit(Policy policy) {
        sources = next;
        tokens.keepOnly(policy.identification().sources());
    }

    /**
     * The tenant of the request. Errors with {@link IdentityRefusedException} when it has none that may pass; in a dry
     * run the refusal is noted, and emitted as {@link Identity.Refused}.
     */
    public Mono<Identity> require(ServerWebExchange exchange) {
        return identify(exchange, null).flatMap(identity -> {
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

    /**
     * The tenant of a request, or the reason why it has none; repeated calls give the same answer. Does not error. The
     * credentials are read by this call; only keys that have to be fetched for a token are waited for.
     *
     * @param otherwise the tenant of a request without any credential; null refuses the request
     */
    public Mono<Identity> identify(ServerWebExchange exchange, @Nullable TenantId otherwise) {
        Identity known = Identity.of(exchange);
        return known != null
                ? Mono.just(known)
                : sources.identify(exchange, otherwise).doOnNext(found -> found.noteOn(exchange));
    }

    /** Notes a request that would be refused, once, however many routes and steps ask for its tenant. */
    void noteDryRun(ServerWebExchange exchange, IdentityRefusedException why) {
        if (exchange.getAttributes().putIfAbsent(NOTED, true) == null) {
            refusals.refused(null, why.reason().label, false);
            decisions.noteDryRun(decisions.origin(exchange), why);
        }
    }
}

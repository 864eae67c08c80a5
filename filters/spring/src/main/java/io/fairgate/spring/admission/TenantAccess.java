package io.fairgate.spring.admission;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.identity.Identity;
import io.fairgate.spring.identity.IdentityRefusedException;
import io.fairgate.spring.identity.TenantIdentifier;
import io.fairgate.spring.quota.QuotaRefusedException;
import io.fairgate.spring.quota.QuotaStep;
import io.fairgate.spring.quota.RequestQuotas;
import io.fairgate.spring.quota.TenantCharge;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.spring.refusal.RefusalHandler;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Applies the policy to calls of an API that serves no routes, such as the lease API: it identifies the tenant and
 * charges its own quotas by the same rules and with the same answers as on the traffic port.
 *
 * <p>{@link #handle} answers every refusal that the gateway's filters know.
 *
 * <p>Callable from any thread; blocks none.
 */
public final class TenantAccess {

    private final TenantIdentifier identifier;
    private final QuotaStep quotas;
    private final Decisions decisions;
    private final RefusalHandler refusals;
    private final RefusalMeters meters;
    private final GracefulShutdown shutdown;

    /**
     * The tenant of a call.
     *
     * @param tenant the tenant whose permits and quotas are used
     * @param named the id in the request; many unknown ids may share one tenant, and have nothing else in common
     */
    public record Caller(TenantPolicy tenant, TenantId named) {}

    TenantAccess(
            TenantIdentifier identifier,
            QuotaStep quotas,
            Decisions decisions,
            RefusalHandler refusals,
            RefusalMeters meters,
            GracefulShutdown shutdown) {
        this.identifier = identifier;
        this.quotas = quotas;
        this.decisions = decisions;
        this.refusals = refusals;
        this.meters = meters;
        this.shutdown = shutdown;
    }

    /** The tenant of an exchange. Errors without one, also in a dry run: its permits could not be taken back. */
    public Mono<Caller> identify(ServerWebExchange exchange) {
        return identify(exchange, null);
    }

    /** The same, but a request without any identity belongs to {@code otherwise}, unless that is null. */
    public Mono<Caller> identify(ServerWebExchange exchange, @Nullable TenantId otherwise) {
        return identifier.identify(exchange, otherwise).flatMap(identity -> {
            if (identity instanceof Identity.Known known) {
                return Mono.just(new Caller(known.tenant(), known.named()));
            }
            IdentityRefusedException why = ((Identity.Refused) identity).why();
            meters.refused(null, why.reason().label, true);
            return Mono.error(why);
        });
    }

    /** Prepares a charge of one unit to the quotas of all calls of the tenant. Errors if it would be refused now. */
    public Mono<TenantCharge> check(ServerWebExchange exchange, Caller caller) {
        return Mono.defer(() -> {
            RequestQuotas unit = quotas.of(exchange, caller.tenant(), RouteRules.of(exchange));
            return new TenantCharge(quotas, decisions.origin(exchange), unit).check();
        });
    }

    /** Whether the failure is the one of {@link #check} and {@link TenantCharge#make} when the quotas are used up. */
    public static boolean isQuotaUsedUp(Throwable failure) {
        return failure instanceof QuotaRefusedException;
    }

    /** Answers a refusal; errors with the failure when it is not a refusal of Fairgate. */
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        return refusals.handle(exchange, failure);
    }

    /** Whether the gateway is shutting down and takes no new requests. */
    public boolean isDraining() {
        return shutdown.hasBegun();
    }

    /** Errors with the refusal of a call during a shutdown, and counts it like that of a request. */
    public <T> Mono<T> refuseDraining() {
        return Mono.defer(() -> {
            meters.refused(null, Refusal.DRAINING.reason(), true);
            return Mono.error(new NotAdmittedException(Refusal.DRAINING));
        });
    }

    /** Whether the failure is the one of {@link #refuseDraining}. */
    public static boolean isForDraining(Throwable failure) {
        return failure instanceof NotAdmittedException refused && refused.isFor(Refusal.DRAINING);
    }
}

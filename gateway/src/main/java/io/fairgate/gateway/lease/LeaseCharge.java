package io.fairgate.gateway.lease;

import io.fairgate.spring.admission.TenantAccess;
import io.fairgate.spring.quota.TenantCharge;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The charge of one call for a lease: checked before the lease waits, and made when its permits are granted. */
final class LeaseCharge {

    private final Mono<TenantCharge> check;
    private final Runnable onUsedUp;
    private volatile @Nullable TenantCharge checked;

    /**
     * @param check emits the charge, or errors when it would be refused now
     * @param onUsedUp runs when the quotas are used up, before the error is signalled
     */
    LeaseCharge(Mono<TenantCharge> check, Runnable onUsedUp) {
        this.check = check;
        this.onUsedUp = onUsedUp;
    }

    /** Errors when the charge would be refused now. */
    Mono<TenantCharge> checked() {
        return check.doOnNext(charge -> checked = charge).doOnError(TenantAccess::isQuotaUsedUp, e -> onUsedUp.run());
    }

    /** Makes the charge, after a check if there was none. To be subscribed once; errors when it is refused. */
    Mono<Void> payment() {
        return Mono.defer(() -> {
                    TenantCharge known = checked;
                    return known == null ? checked() : Mono.just(known);
                })
                .flatMap(charge -> charge.make().doOnError(TenantAccess::isQuotaUsedUp, e -> onUsedUp.run()));
    }

    /** Adds the balances of the quotas to an answer, if this charge was made. */
    void addBalances(ServerWebExchange exchange) {
        TenantCharge known = checked;
        if (known != null) {
            known.addBalances(exchange);
        }
    }
}

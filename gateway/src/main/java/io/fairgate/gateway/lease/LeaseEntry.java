package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.spring.quota.TenantCharge;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One lease of the API: its request, and the result of its charge. */
final class LeaseEntry {

    private final AcquireLease request;
    private final @Nullable TenantCharge charge;
    private final Mono<Void> charged;
    private final Sinks.Empty<Void> opened = Sinks.empty();
    private volatile @Nullable Throwable refusal;

    /**
     * The entry of a lease that is not open yet.
     *
     * @param charge made when the lease is granted; null for a lease that is restored, because it was charged before
     * @param onRefused called when the charge is refused, before the error is signalled
     */
    LeaseEntry(AcquireLease request, @Nullable TenantCharge charge, Runnable onRefused) {
        this.request = request;
        this.charge = charge;
        this.charged = charge == null
                ? Mono.empty()
                : charge.make()
                        .doOnError(e -> {
                            refusal = e;
                            onRefused.run();
                        })
                        .cache();
    }

    LeaseId id() {
        return request.id();
    }

    AcquireLease request() {
        return request;
    }

    /** Whether the lease restores what it held before a restart, and so is not charged. */
    boolean isRestored() {
        return charge == null;
    }

    /** Makes the charge at the first subscription; every subscriber gets its result. */
    Mono<Void> charged() {
        return charged;
    }

    /** The error of the charge; null when it was not refused. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    /** Completes when the lease is open, or when the attempt to open it has ended. */
    Mono<Void> opened() {
        return opened.asMono();
    }

    void open() {
        opened.tryEmitEmpty();
    }

    /** Adds the balances of the quotas that were charged to an answer. */
    void addBalances(ServerWebExchange exchange) {
        if (charge != null) {
            charge.addBalances(exchange);
        }
    }
}

package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.spring.quota.TenantCharge;
import io.fairgate.tenant.TenantId;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One lease of the API: its tenant, the request, and the result of its charge. */
final class LeaseAccount {

    private final LeaseAsk ask;
    private final @Nullable TenantCharge charge;
    private final Mono<Void> charged;
    private final Sinks.Empty<Void> opened = Sinks.empty();
    private volatile @Nullable Throwable refusal;

    /**
     * The account of a lease that is not open yet.
     *
     * @param charge made when the lease is granted; null for a lease that is restored, because it was charged before
     * @param onRefused called when the charge is refused, before the error is signalled
     */
    LeaseAccount(LeaseAsk ask, @Nullable TenantCharge charge, Consumer<LeaseAsk> onRefused) {
        this.ask = ask;
        this.charge = charge;
        this.charged = charge == null
                ? Mono.empty()
                : charge.make()
                        .doOnError(e -> {
                            refusal = e;
                            onRefused.accept(ask);
                        })
                        .cache();
    }

    LeaseId id() {
        return ask.id();
    }

    /** The tenant id that the request named. */
    TenantId owner() {
        return ask.caller().named();
    }

    /** The tenant that the permits are counted for. */
    TenantId tenant() {
        return ask.caller().tenant().id();
    }

    Map<String, Integer> permits() {
        return ask.permits();
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

    boolean isOpened() {
        return opened.scanOrDefault(Scannable.Attr.TERMINATED, false);
    }

    void open() {
        opened.tryEmitEmpty();
    }

    /** Adds the state of the quotas that were charged to an answer. */
    void tellQuotas(ServerWebExchange exchange) {
        if (charge != null) {
            charge.addBalances(exchange);
        }
    }
}

package io.fairgate.gateway.lease;

import io.fairgate.lease.LeaseId;
import io.fairgate.spring.quota.TenantCharge;
import io.fairgate.tenant.TenantId;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One lease of the API: whose it is, what was asked, and what became of its charge. */
final class LeaseAccount {

    private final LeaseAsk ask;
    private final @Nullable TenantCharge charge;
    private final Mono<Void> charged;
    private final Sinks.Empty<Void> opened = Sinks.empty();
    private volatile @Nullable Throwable refusal;

    /**
     * An account whose lease is not open yet.
     *
     * @param charge made when the lease is granted; null when it holds already, and so is restored
     * @param onRefused called when the charge is refused, before anybody is told
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

    /** The id that its tenant was named by. */
    TenantId owner() {
        return ask.caller().named();
    }

    /** Whose permits it takes. */
    TenantId tenant() {
        return ask.caller().tenant().id();
    }

    Map<String, Integer> permits() {
        return ask.permits();
    }

    /** Whether it is to hold what it held before a restart, and so costs nothing. */
    boolean isRestored() {
        return charge == null;
    }

    /** Charges it at the first subscription; every one hears how that went. */
    Mono<Void> charged() {
        return charged;
    }

    /** Why the charge was refused; null when it was not. */
    @Nullable
    Throwable refusal() {
        return refusal;
    }

    /** When there is a lease to be asked for. */
    Mono<Void> opened() {
        return opened.asMono();
    }

    void open() {
        opened.tryEmitEmpty();
    }

    /** Adds to an answer how the quotas stand that it was charged to. */
    void tellQuotas(ServerWebExchange exchange) {
        if (charge != null) {
            charge.tell(exchange);
        }
    }
}

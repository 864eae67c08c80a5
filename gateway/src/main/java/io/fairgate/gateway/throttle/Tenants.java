package io.fairgate.gateway.throttle;

import io.fairgate.lease.LeaseId;
import java.util.Map;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Of whom the protocol knows nothing: whose peers there are, and what tenants may have beyond what it says itself. From any
 * thread; blocks none. What fails with a {@link ThrottleError} is answered so; other failures go on to the handlers of the server.
 */
public interface Tenants {

    /** Who asks. Where it fails, no route is asked. */
    Mono<PeerOwner> owner(ServerWebExchange exchange);

    /**
     * Looks whether locks could be paid for now.
     *
     * @param peer the lease that is to hold them
     * @return what pays for them, subscribed to once, when they are granted; or an error, and then they are not asked for
     */
    Mono<Charge> charge(ServerWebExchange exchange, PeerOwner owner, LeaseId peer, Map<String, Integer> locks);

    /** Whether the server ends, and has ended peers that wait: they are not unknown ones then. */
    default boolean areSentAway() {
        return false;
    }

    /** What pays for locks; an error when it cannot after all. */
    record Charge(Mono<Void> made) {
        public static final Charge NONE = new Charge(Mono.empty());
    }

    /** Everybody is one, to whom nothing is refused. */
    static Tenants everybody(PeerOwner one) {
        return new Tenants() {
            @Override
            public Mono<PeerOwner> owner(ServerWebExchange exchange) {
                return Mono.just(one);
            }

            @Override
            public Mono<Charge> charge(
                    ServerWebExchange exchange, PeerOwner owner, LeaseId peer, Map<String, Integer> locks) {
                return Mono.just(Charge.NONE);
            }
        };
    }
}

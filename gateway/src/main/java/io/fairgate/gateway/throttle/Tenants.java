package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Call;
import io.fairgate.lease.LeaseId;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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

    /** A call of somebody is refused, and nothing has told of that yet. */
    default void refused(Call call, PeerOwner owner, Refused what) {}

    /** A peer came back after a restart, and has its locks or waits for them. */
    default void restored(PeerOwner owner) {}

    /**
     * What is known of a call that is refused.
     *
     * @param peer its lease; null when the call names none
     * @param locks counts by the name of the semaphore, as they were asked for
     * @param reason in a word
     */
    record Refused(@Nullable LeaseId peer, Map<String, Long> locks, String reason) {}

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

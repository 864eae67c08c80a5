package io.fairgate.gateway.throttle;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Tenants, which the protocol itself does not have: the owner of each peer, and the limits of tenants beyond those of the
 * protocol. Thread-safe; non-blocking. A {@link ThrottleError} is sent as the answer; other errors are passed to the error
 * handlers of the server.
 */
public interface Tenants {

    /** Identifies the owner of a request. If it errors, no route is called. */
    Mono<PeerOwner> owner(ServerWebExchange exchange);

    /**
     * Checks whether the requested locks could be charged now.
     *
     * @return the charge, which is subscribed to once, when they are granted; or an error, and then they are not requested
     */
    default Mono<Charge> charge(ThrottleRequest request) {
        return Mono.just(Charge.NONE);
    }

    /** Called when a request is refused, for a reason in a word, and the refusal has not been recorded yet. */
    default void refused(ThrottleRequest request, String reason) {}

    /** Called when a peer was restored after a restart; its locks are held or pending. */
    default void restored(PeerOwner owner) {}

    /** Whether the server shuts down and has ended waiting peers. An unknown peer may be one of these then. */
    default boolean areSentAway() {
        return false;
    }

    /** The charge for locks; {@code made} errors when it is refused. */
    record Charge(Mono<Void> made) {
        public static final Charge NONE = new Charge(Mono.empty());
    }
}

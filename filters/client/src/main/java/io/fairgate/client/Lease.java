package io.fairgate.client;

import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Permits that are held under an id, and extended in the background until they are released or lost.
 *
 * <p>Thread-safe; no method blocks.
 */
public final class Lease {

    private final Hold hold;

    Lease(Hold hold) {
        this.hold = hold;
    }

    /** 32 hexadecimal digits. */
    public String id() {
        return hold.id();
    }

    /** Permits by pool. */
    public Map<String, Integer> pools() {
        return hold.options().pools();
    }

    /**
     * The fencing token: a number below 2<sup>53</sup> that grows with each grant. A store that refuses every token smaller
     * than the largest it has seen is safe from a holder that was paused past its expiry; no clock of that holder can ensure
     * that. The token grows when the server was restarted and the lease restored, so read it before each use.
     */
    public long token() {
        return hold.token();
    }

    /** Whether no other holder can have these permits now. The answer may be out of date if the program is paused after it. */
    public boolean isHeld() {
        return hold.isHeld();
    }

    /**
     * Errors with {@link LeaseLostException} when the lease can no longer be held, some time (a tenth of its time to live, at
     * most a second) before the permits may be granted to another holder; completes when the lease was released. Later
     * subscribers get the same signal. It comes on a timer's thread or an event loop, so its subscriber must not block.
     */
    public Mono<Void> lost() {
        return hold.end();
    }

    /**
     * Releases the lease once subscribed: from then on it is neither held nor extended, even if the call fails or is
     * cancelled.
     *
     * <p>Completes when the server has given the permits back, also if it did so earlier. Errors with {@link LeaseException}
     * when the server did not confirm that within some seconds; then the permits come back when the lease expires. Each
     * subscription sends the call again.
     */
    public Mono<Void> release() {
        return hold.release();
    }

    boolean isLost() {
        return hold.isLost();
    }
}

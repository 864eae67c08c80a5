package io.fairgate.client;

import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Permits that are held under an id, and extended in the background until they are released or lost.
 *
 * <p>Thread-safe; no method blocks.
 */
public interface Lease {

    /** 32 hexadecimal digits. */
    String id();

    /** Permits by pool. */
    Map<String, Integer> pools();

    /**
     * The fencing token: a number below 2<sup>53</sup> that grows with each grant. A store that refuses every token smaller
     * than the largest it has seen is safe from a holder that was paused past its expiry; no clock of that holder can ensure
     * that. The token grows when the server was restarted and the lease restored, so read it before each use.
     */
    long token();

    /** Whether no other holder can have these permits now. The answer may be out of date if the program is paused after it. */
    boolean isHeld();

    /**
     * Errors with {@link LeaseLostException} when the lease can no longer be held, some time (a tenth of its time to live, at
     * most a second) before the permits may be granted to another holder; completes when the lease was released. Later
     * subscribers get the same signal. It comes on a timer's thread or an event loop, so its subscriber must not block.
     */
    Mono<Void> lost();

    /**
     * Releases the lease once subscribed: from then on it is neither held nor extended, however the call ends.
     *
     * <p>Completes when the server has given the permits back, also if it did so earlier. Errors with {@link LeaseException}
     * when the server did not confirm that within some seconds; then the permits come back when the lease expires. Each
     * subscription sends the call again.
     */
    Mono<Void> release();
}

package io.fairgate.client;

import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Permits that are held under an id, and extended in the background until they are released or lost.
 *
 * <p>From any thread; nothing blocks.
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
     * The fencing token: a number below 2<sup>53</sup> that grows with each grant. A store that refuses smaller ones than it
     * has seen is safe from a holder that was paused past its expiry, which no clock of that holder can promise. It
     * grows when the server was started anew and the lease restored, so ask for it before each use.
     */
    public long token() {
        return hold.token();
    }

    /** Whether nobody else can hold these permits now. A program that is paused right after asking learns it too late. */
    public boolean isHeld() {
        return hold.isHeld();
    }

    /**
     * Errors with {@link LeaseLostException} when the lease can no longer be held, some time (a tenth of its time to live, at
     * most a second) before the permits may be granted to somebody else; completes when it was released. Also for who
     * subscribes later. On a timer's thread or an event loop: what comes of it must not block.
     */
    public Mono<Void> lost() {
        return hold.end();
    }

    /**
     * Releases the lease once subscribed: from then on it is neither held nor extended, whatever becomes of the call, and
     * cancelling changes nothing about that.
     *
     * <p>Completes when the server has given the permits back, at once if it had before. Errors with
     * {@link LeaseException} when it could not be told within some seconds; then they come back when the lease expires. Each
     * subscription tells it again.
     */
    public Mono<Void> release() {
        return hold.release();
    }

    boolean isLost() {
        return hold.isLost();
    }
}

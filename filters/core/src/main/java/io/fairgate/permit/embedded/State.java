package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;

/**
 * The states of a {@link Waiter}. It only moves forward, and only by compare-and-set; {@code loop} is the event loop of the
 * request ({@link PermitRequest#eventLoop}):
 *
 * <pre>
 *   WAITING ──drain──▶ GRANTED ──loop──▶ STARTING ──▶ RUNNING ──complete──▶ DONE
 *      │                  │ │               │  │         ├──error, cancel, hold over──▶ QUIESCING ──▶ DONE
 *      │                  │ │               │  │         └──release, hold over──▶ RELEASED
 *      │                  │ │               │  └──complete, error──▶ as when RUNNING
 *      │                  │ │               └──cancel──▶ CANCELLED_STARTING ──▶ HALF_CANCELLED ──▶ QUIESCING
 *      │                  │ ├──loop──▶ OFFERED ──requested──▶ RUNNING
 *      │                  │ │             └──hold or slice over──▶ DONE
 *      │                  │ └──max-wait or the slice is over, or the loop rejects it──▶ DONE
 *      ├──cancel──────────┴──▶ CANCELLED (also when OFFERED)
 *      └──drain──▶ REFUSED, LOST ──loop──▶ REPORTED
 * </pre>
 *
 * <p>A permit of the fast path takes the same way: to GRANTED by the subscribing thread, or at once to the state after it when
 * the request has no event loop. Permits that are taken at once or not at all go to RUNNING, or to CANCELLED.
 */
final class State {

    static final int WAITING = 0;
    static final int GRANTED = 1;
    /** A handle that its subscriber has not requested yet. */
    static final int OFFERED = 2;
    /** The work is being subscribed. */
    static final int STARTING = 3;
    /** The work is running, or the handle is held. */
    static final int RUNNING = 4;
    /**
     * Cancelled while the work was being subscribed. Two things must follow, in either order: the work is cancelled, and the
     * call of subscribe returns. Until both have happened the work may still be doing something.
     */
    static final int CANCELLED_STARTING = 5;
    /** One of the two has happened. */
    static final int HALF_CANCELLED = 6;
    /** A work that was cancelled or has failed has not really ended yet ({@link PermitRequest#quiesced}). */
    static final int QUIESCING = 7;
    /** In this state and those after it the request is over. */
    static final int DONE = 8;
    /** The holder has released its handle, or held it for too long. */
    static final int RELEASED = 9;
    /** The request ended before it began, because of its subscriber. */
    static final int CANCELLED = 10;
    /** The subscriber of a request that was refused or lost has got its error. */
    static final int REPORTED = 11;
    /** The slice of this process has ended ({@link PoolSlice}). */
    static final int LOST = 12;
    /** The first of the states REFUSED: one for each reason, in the order of the reasons. */
    static final int REFUSED = 13;

    private State() {}
}

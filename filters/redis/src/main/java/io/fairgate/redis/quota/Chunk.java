package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaDecision;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Units that one call has charged to all quotas of a set, for requests to come. Guarded by the lock of its {@link PrepaidUnits}.
 *
 * <p>A unit must count where it is used. So a chunk ends with the window in which it was charged, or the part of a sliding window. Of a
 * rate, its units count as used until it is closed, and come back after that.
 */
final class Chunk {

    /** For fewer, the calls that charge it and give it back do not pay. */
    static final int FEWEST_REQUESTS = 4;

    private final PrepaidUnits owner;
    private final long units;
    private final QuotaDecision decision;
    /** When it would end without windows. */
    private final long longestNanos;

    private final long endNanos;
    private List<String> marks;
    private boolean isClosed;
    private @Nullable Disposable timer;
    private long used;
    private int requests;

    /**
     * @param answer of a call that has charged at least one unit
     * @param sentNanos when the call was sent
     * @param longest for how many nanoseconds the units may be used at most
     */
    Chunk(PrepaidUnits owner, QuotaAnswer answer, long sentNanos, long longest) {
        KeyedQuotas keyed = owner.keyed;
        this.owner = owner;
        this.units = answer.charged();
        this.marks = answer.marks();
        this.decision = keyed.decision(answer);
        long nanos = longest;
        for (int i = 0; i < answer.balances().size(); i++) {
            long micros =
                    keyed.inOrder.get(i).untilOtherWindow(answer.balances().get(i));
            nanos = Math.min(nanos, TimeUnit.MICROSECONDS.toNanos(micros));
        }
        this.longestNanos = sentNanos + longest;
        this.endNanos = sentNanos + nanos;
    }

    /** Corrects the charge of a request that has used units; called without a lock. */
    Mono<Void> settle(long more) {
        return owner.settle(this, more);
    }

    /** What a request gets that uses units of this chunk: the balances without what gateways have at hand. */
    QuotaDecision decision() {
        return decision;
    }

    /** For the settlement of a request that has used units, or for the call that closes the chunk. */
    List<String> marks() {
        return marks;
    }

    /** How many units there were at first. */
    long units() {
        return units;
    }

    long endNanos() {
        return endNanos;
    }

    /** How many units can be used now. */
    long left(long now) {
        return now - endNanos < 0 ? unused() : 0;
    }

    /** How many units no request has used. */
    long unused() {
        return units - used;
    }

    /** Uses units, if there are so many. */
    boolean take(long asked, long now) {
        if (asked > left(now)) {
            return false;
        }
        used += asked;
        requests++;
        return true;
    }

    /** A request has used so many units fewer than it took. Returns false when the chunk is closed. */
    boolean putBack(long rest) {
        if (!isClosed) {
            used -= rest;
        }
        return !isClosed;
    }

    /** Whether it has ended early after it had served few requests: with a window, or because they use much. */
    boolean wasNotWorthIt(long now) {
        return requests < FEWEST_REQUESTS && now - longestNanos < 0;
    }

    /** No unit is used or put back any more. */
    void close() {
        isClosed = true;
        if (timer != null) {
            timer.dispose();
        }
    }

    boolean isClosed() {
        return isClosed;
    }

    /** @param whenOver disposed of when the chunk is closed before */
    void setTimer(Disposable whenOver) {
        timer = whenOver;
        if (isClosed) {
            whenOver.dispose();
        }
    }

    /** The quotas are charged now what was used. */
    void closed(List<String> marksOfUsed) {
        if (marksOfUsed.size() == marks.size()) { // else there is a usage that cannot be read
            marks = marksOfUsed;
        }
    }
}

package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaDecision;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Sinks;

/**
 * Units that one call has charged to all quotas of a set, for requests to come. Guarded by the lock of its {@link PrepaidUnits}.
 *
 * <p>A unit must count where it is used. So a chunk ends with the window in which it was charged, or the part of a sliding window. The
 * quotas have no rate among them.
 */
final class Chunk {

    /** For fewer, the calls that charge it and give it back do not pay. */
    private static final int FEWEST_REQUESTS = 4;

    private final KeyedQuotas keyed;
    private final long units;
    private final List<String> marks;
    private final QuotaDecision decision;
    /** When it would end without windows. */
    private final long longestNanos;

    private final long endNanos;
    private long used;
    private int requests;

    /**
     * @param answer of a call that has charged at least one unit
     * @param sentNanos when the call was sent
     * @param longest for how many nanoseconds the units may be used at most
     */
    Chunk(KeyedQuotas keyed, QuotaAnswer answer, long sentNanos, long longest) {
        this.keyed = keyed;
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

    /** What a request gets that uses units of this chunk: the balances without what gateways have at hand. */
    QuotaDecision decision() {
        return decision;
    }

    /** For the settlement of a request that has used units. */
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
        return now - endNanos < 0 ? units - used : 0;
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

    /** Whether it has ended early after it had served few requests: with a window, or because they use much. */
    boolean wasNotWorthIt(long now) {
        return requests < FEWEST_REQUESTS && now - longestNanos < 0;
    }

    /** What gives back the units that were not used, to be called once; null when all were. */
    @Nullable
    Settlement rest() {
        return used < units ? new Settlement(keyed, marks, used - units, Sinks.empty()) : null;
    }
}

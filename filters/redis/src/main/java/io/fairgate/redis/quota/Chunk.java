package io.fairgate.redis.quota;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.redis.quota.QuotaAnswer.QuotaLeft;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Sinks;

/**
 * Units that one call has charged to all quotas of a set, for requests to come. Guarded by the lock of its {@link PrepaidUnits}.
 *
 * <p>A unit must count where it is used. So a chunk ends with the window in which it was charged, or the part of a sliding window. Of a
 * rate, units that have come back with the time are not used any more: Redis counts them as unused again. What comes back first is what
 * was charged before the chunk, as in a queue. Then the usage that Redis counts is never below the one by the times of use, because
 * each unit was charged before it was used and had not come back yet.
 */
final class Chunk {

    /** For fewer, the calls that charge it and give it back do not pay. */
    private static final int FEWEST_REQUESTS = 4;

    private final KeyedQuotas keyed;
    private final long units;
    private final List<QuotaLeft> charged;
    private final List<String> marks;
    private final QuotaDecision decision;
    /** Not after the moment of the charge, in nanoseconds. */
    private final long chargeNanos;

    /** When it would end without windows. */
    private final long longestNanos;

    private final long endNanos;
    /** For each quota, how many units are used, or had come back before they could be used. */
    private final long[] gone;

    private int requests;

    /**
     * @param answer of a call that has charged at least one unit
     * @param sentNanos when the call was sent
     * @param longest for how many nanoseconds the units may be used at most
     */
    Chunk(KeyedQuotas keyed, QuotaAnswer answer, long sentNanos, long longest) {
        this.keyed = keyed;
        this.units = answer.charged();
        this.charged = answer.balances();
        this.marks = answer.marks();
        this.decision = keyed.decision(answer);
        this.chargeNanos = sentNanos;
        this.gone = new long[charged.size()];
        long nanos = longest;
        for (int i = 0; i < gone.length; i++) {
            nanos = Math.min(nanos, TimeUnit.MICROSECONDS.toNanos(quota(i).untilOtherWindow(charged.get(i))));
        }
        this.longestNanos = sentNanos + longest;
        this.endNanos = sentNanos + nanos;
    }

    private KeyedQuota quota(int i) {
        return keyed.inOrder.get(i);
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
        if (now - endNanos >= 0) {
            return 0;
        }
        long micros = TimeUnit.NANOSECONDS.toMicros(now - chargeNanos) + 1;
        long most = 0;
        for (int i = 0; i < gone.length; i++) {
            gone[i] = Math.max(gone[i], quota(i).comeBack(charged.get(i), units, micros));
            most = Math.max(most, gone[i]);
        }
        return units - most;
    }

    /** Uses units, if there are so many. */
    boolean take(long asked, long now) {
        if (asked > left(now)) {
            return false;
        }
        for (int i = 0; i < gone.length; i++) {
            gone[i] += asked;
        }
        requests++;
        return true;
    }

    /** Whether it ended early, by a window or because its units came back, after it had served few requests. */
    boolean wasNotWorthIt(long now) {
        return requests < FEWEST_REQUESTS && now - longestNanos < 0;
    }

    /** What gives back the units that were not used, to be called once. Of a rate, Redis gives back what the time has not. */
    List<Settlement> rest() {
        Map<Long, String[]> unused = new LinkedHashMap<>();
        for (int i = 0; i < gone.length; i++) {
            if (gone[i] < units) {
                unused.computeIfAbsent(units - gone[i], count -> noMarks())[i] = marks.get(i);
            }
        }
        List<Settlement> rest = new ArrayList<>();
        unused.forEach((count, each) -> rest.add(new Settlement(keyed, List.of(each), -count, Sinks.empty())));
        return rest;
    }

    private String[] noMarks() {
        String[] none = new String[gone.length];
        Arrays.fill(none, "");
        return none;
    }
}

package io.fairgate.load.kit;

import io.fairgate.load.Latencies;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts how requests of one kind ended. Safe for use by many threads. Only answers have a time: fast refusals would look like a fast gateway. */
final class Tally {

    private final int maxMillis;
    private final Latencies answers;
    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();

    /** @param timeout no answer takes longer */
    Tally(Duration timeout) {
        maxMillis = (int) timeout.toMillis();
        answers = new Latencies(maxMillis);
    }

    /** @param status 0 without an answer */
    void count(Outcome outcome, int status, int millis) {
        statuses.computeIfAbsent(status, any -> new LongAdder()).increment();
        switch (outcome) {
            case ANSWERED -> answers.answered(millis);
            case REFUSED -> refused.increment();
            case FAILED -> failed.increment();
        }
    }

    void add(Tally other) {
        answers.add(other.answers);
        refused.add(other.refused.sum());
        failed.add(other.failed.sum());
        other.statuses.forEach((status, count) ->
                statuses.computeIfAbsent(status, any -> new LongAdder()).add(count.sum()));
    }

    long answered() {
        return answers.answers();
    }

    /**
     * @param allAnswers the answers of all tenants
     * @param permitShare the percentage of the permit-time; null if it is not known
     */
    Figures figures(Duration time, long allAnswers, @Nullable Double permitShare) {
        long answered = answered();
        Map<String, Long> byStatus = new TreeMap<>();
        statuses.forEach((status, count) -> byStatus.put(status == 0 ? "none" : String.valueOf(status), count.sum()));
        return new Figures(
                answered,
                refused.sum(),
                failed.sum(),
                byStatus,
                answered * 1e9 / time.toNanos(),
                allAnswers == 0 ? 0 : 100.0 * answered / allAnswers,
                permitShare,
                new Figures.Millis(millis(50), millis(95), millis(99), millis(100)));
    }

    private @Nullable Integer millis(double percent) {
        return answered() == 0 ? null : (int) answers.percentile(percent);
    }
}

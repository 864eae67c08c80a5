package io.fairgate.load.kit;

import io.fairgate.load.Latencies;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts how requests of one kind ended. Safe for use by many threads. Only answers have a time: fast refusals would look like a fast gateway. */
final class Tally {

    private final int maxMillis;
    /** Null until there is an answer: it needs memory for each millisecond. */
    private final AtomicReference<@Nullable Latencies> answers = new AtomicReference<>();

    private final LongAdder refused = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<Integer, LongAdder> statuses = new ConcurrentHashMap<>();

    /** @param timeout no answer takes longer */
    Tally(Duration timeout) {
        maxMillis = (int) timeout.toMillis();
    }

    /** @param status 0 without an answer */
    void count(Outcome outcome, int status, int millis) {
        statuses.computeIfAbsent(status, any -> new LongAdder()).increment();
        switch (outcome) {
            case ANSWERED -> answers().answered(millis);
            case REFUSED -> refused.increment();
            case FAILED -> failed.increment();
        }
    }

    void add(Tally other) {
        Latencies others = other.answers.get();
        if (others != null) {
            answers().add(others);
        }
        refused.add(other.refused.sum());
        failed.add(other.failed.sum());
        other.statuses.forEach((status, count) ->
                statuses.computeIfAbsent(status, any -> new LongAdder()).add(count.sum()));
    }

    private Latencies answers() {
        Latencies known = answers.get();
        if (known == null) {
            answers.compareAndSet(null, new Latencies(maxMillis));
            known = Objects.requireNonNull(answers.get());
        }
        return known;
    }

    long answered() {
        Latencies known = answers.get();
        return known == null ? 0 : known.answers();
    }

    /**
     * The results.
     *
     * @param ended how many answers came in this time, whenever their requests began
     * @param allAnswers the same of all tenants
     * @param permitShare the percentage of the permit-time; null if it is not known
     */
    Figures figures(Duration time, long ended, long allAnswers, @Nullable Double permitShare) {
        long answered = answered();
        Map<String, Long> byStatus = new TreeMap<>();
        statuses.forEach((status, count) -> byStatus.put(status == 0 ? "none" : String.valueOf(status), count.sum()));
        return new Figures(
                answered,
                refused.sum(),
                failed.sum(),
                byStatus,
                (answered + refused.sum() + failed.sum()) * 1e9 / time.toNanos(),
                ended * 1e9 / time.toNanos(),
                allAnswers == 0 ? 0 : 100.0 * ended / allAnswers,
                permitShare,
                new Figures.Millis(millis(50), millis(95), millis(99), millis(100)));
    }

    private @Nullable Integer millis(double percent) {
        return answered() == 0 ? null : (int) answers().percentile(percent);
    }
}

package io.fairgate.load;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Response times of one kind of request, and how many of them failed. Safe for use by many threads.
 *
 * <p>There is one counter per millisecond, so memory is bounded by the request timeout and not by the length of the run, and
 * percentiles are as exact as Gatling's clock. Failures have no time here: fast refusals would make a tenant look well served.
 */
public final class Latencies {

    /** The request timeout of {@code gatling.conf}; a slower answer is a failure. */
    static final int MAX_MILLIS = 10_000;

    private final int maxMillis;
    private final AtomicIntegerArray answersByMillis;
    private final LongAdder failures = new LongAdder();

    Latencies() {
        this(MAX_MILLIS);
    }

    /**
     * Without any request yet.
     *
     * @param maxMillis longer times count as this one
     */
    public Latencies(int maxMillis) {
        this.maxMillis = maxMillis;
        answersByMillis = new AtomicIntegerArray(maxMillis + 1);
    }

    public void answered(int millis) {
        answersByMillis.incrementAndGet(Math.max(0, Math.min(millis, maxMillis)));
    }

    void failed() {
        failures.increment();
    }

    public long answers() {
        long sum = 0;
        for (int millis = 0; millis <= maxMillis; millis++) {
            sum += answersByMillis.get(millis);
        }
        return sum;
    }

    /** Counts the answers of another one, with the same longest time, as its own. */
    public void add(Latencies other) {
        for (int millis = 0; millis <= maxMillis; millis++) {
            answersByMillis.addAndGet(millis, other.answersByMillis.get(millis));
        }
        failures.add(other.failures());
    }

    long failures() {
        return failures.sum();
    }

    /** The nearest-rank percentile in milliseconds; NaN without answers, so that every comparison is false. */
    public double percentile(double percent) {
        long rank = (long) Math.ceil(answers() * percent / 100);
        if (rank == 0) {
            return Double.NaN;
        }
        long seen = 0;
        for (int millis = 0; millis < maxMillis; millis++) {
            seen += answersByMillis.get(millis);
            if (seen >= rank) {
                return millis;
            }
        }
        return maxMillis;
    }
}

package io.fairgate.load;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Response times of one kind of request, and how many of them failed. Safe for use by many threads.
 *
 * <p>There is one counter per millisecond, so memory is bounded by the request timeout and not by the length of the run, and
 * percentiles are as exact as Gatling's clock. Failures have no time here: fast refusals would make a tenant look well served.
 */
final class Latencies {

    /** The request timeout of {@code gatling.conf}; a slower answer is a failure. */
    static final int MAX_MILLIS = 10_000;

    private final AtomicIntegerArray answersByMillis = new AtomicIntegerArray(MAX_MILLIS + 1);
    private final LongAdder failures = new LongAdder();

    void answered(int millis) {
        answersByMillis.incrementAndGet(Math.max(0, Math.min(millis, MAX_MILLIS)));
    }

    void failed() {
        failures.increment();
    }

    long answers() {
        long sum = 0;
        for (int millis = 0; millis <= MAX_MILLIS; millis++) {
            sum += answersByMillis.get(millis);
        }
        return sum;
    }

    long failures() {
        return failures.sum();
    }

    /** The nearest-rank percentile in milliseconds; NaN without answers, so that every comparison is false. */
    double percentile(double percent) {
        long rank = (long) Math.ceil(answers() * percent / 100);
        if (rank == 0) {
            return Double.NaN;
        }
        long seen = 0;
        for (int millis = 0; millis < MAX_MILLIS; millis++) {
            seen += answersByMillis.get(millis);
            if (seen >= rank) {
                return millis;
            }
        }
        return MAX_MILLIS;
    }
}

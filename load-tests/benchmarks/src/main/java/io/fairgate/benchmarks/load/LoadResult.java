package io.fairgate.benchmarks.load;

import java.time.Duration;

/**
 * What became of the requests of a load.
 *
 * @param time in which answers were counted, without those to requests that were still under way at its end
 * @param latencies of the requests that were forwarded, and answered in this time
 * @param refused the requests that were refused in this time
 * @param answered all answers, also those before and after this time
 */
public record LoadResult(Duration time, Latencies latencies, long refused, long answered) {

    /** Forwarded requests. */
    public double perSecond() {
        return latencies.count() / (time.toNanos() / 1e9);
    }
}

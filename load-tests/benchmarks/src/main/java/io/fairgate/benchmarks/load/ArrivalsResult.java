package io.fairgate.benchmarks.load;

import java.time.Duration;

/**
 * What became of the requests that arrived in an open loop.
 *
 * @param time in which requests and answers were counted
 * @param arrived all requests
 * @param unsent requests for which no connection was free
 * @param latencies of the requests that were answered with 200 before the client gave up
 * @param refused answers with 503 or 429
 * @param timedOut requests whose client gave up
 * @param broken requests whose connection was refused, or closed by the gateway before the answer
 */
public record ArrivalsResult(
        Duration time, long arrived, long unsent, Latencies latencies, long refused, long timedOut, long broken) {

    private double perSecond(long count) {
        return count / (time.toNanos() / 1e9);
    }

    /** Answers with 200 in time. */
    public double goodput() {
        return perSecond(latencies.count());
    }

    public double arrivedPerSecond() {
        return perSecond(arrived);
    }

    public double refusedPerSecond() {
        return perSecond(refused);
    }

    public double timedOutPerSecond() {
        return perSecond(timedOut);
    }

    public double brokenPerSecond() {
        return perSecond(broken);
    }
}

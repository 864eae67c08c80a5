package io.fairgate.benchmarks.load;

import java.time.Duration;
import java.util.List;

/**
 * A closed loop: each connection sends the next request when the last one is answered.
 *
 * @param tenants name the tenants of the requests, in turn; empty for requests that name none
 * @param leadIn the time at the beginning in which nothing is counted but the answers
 * @param time how long requests are sent after that
 * @param atMost how many requests are sent
 * @param pause how long a connection waits after a refusal, because a client that tried again at once would only keep
 *     the machine busy
 */
public record Load(
        int port,
        String path,
        List<String> tenants,
        int connections,
        Duration leadIn,
        Duration time,
        long atMost,
        Duration pause) {

    /** For a load that is bounded by the number of its requests. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final Duration PAUSE = Duration.ofMillis(100);

    public Load {
        tenants = List.copyOf(tenants);
    }

    /** A load for this time. */
    public static Load during(Duration time, int port, String path, List<String> tenants, int connections) {
        return new Load(port, path, tenants, connections, Duration.ZERO, time, Long.MAX_VALUE, PAUSE);
    }

    /** A load of this many requests: on a busy machine a compiler needs more time for the same code. */
    public static Load times(long requests, int port, String path, List<String> tenants, int connections) {
        return new Load(port, path, tenants, connections, Duration.ZERO, LONG, requests, PAUSE);
    }

    /** The same load, whose connections try again at once after a refusal. */
    public Load withoutPause() {
        return new Load(port, path, tenants, connections, leadIn, time, atMost, Duration.ZERO);
    }

    /** The same load, which begins this much earlier. */
    public Load after(Duration leadIn) {
        return new Load(port, path, tenants, connections, leadIn, time, atMost, pause);
    }
}

package io.fairgate.benchmarks.load;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * A closed loop: each connection sends the next request when the last one is answered.
 *
 * @param tenants name the tenants of the requests, in turn; empty for requests that name none
 * @param leadIn the time at the beginning in which nothing is counted but the answers
 * @param time how long requests are sent after that
 * @param atMost how many requests are sent
 * @param pause how long a connection waits after a refusal, because a client that tried again at once would only keep
 *     the machine busy
 * @param answers the statuses of which every answer must have one
 */
public record Load(
        int port,
        String path,
        List<String> tenants,
        int connections,
        Duration leadIn,
        Duration time,
        long atMost,
        Duration pause,
        Set<Integer> answers) {

    /** For a load that is bounded by the number of its requests. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final Duration PAUSE = Duration.ofMillis(100);

    /** Forwarded, or refused for a reason that may be over soon. */
    private static final Set<Integer> USUAL = Set.of(200, 429, 503);

    public Load {
        tenants = List.copyOf(tenants);
        answers = Set.copyOf(answers);
    }

    /** A load for this time. */
    public static Load during(Duration time, int port, String path, List<String> tenants, int connections) {
        return new Load(port, path, tenants, connections, Duration.ZERO, time, Long.MAX_VALUE, PAUSE, USUAL);
    }

    /** A load of this many requests: on a busy machine a compiler needs more time for the same code. */
    public static Load times(long requests, int port, String path, List<String> tenants, int connections) {
        return new Load(port, path, tenants, connections, Duration.ZERO, LONG, requests, PAUSE, USUAL);
    }

    /** The same load, of requests that all get this answer. A connection sends the next one at once, also after a refusal. */
    public Load answeredWith(int status) {
        return new Load(port, path, tenants, connections, leadIn, time, atMost, Duration.ZERO, Set.of(status));
    }

    /** The same load, which begins this much earlier. */
    public Load after(Duration leadIn) {
        return new Load(port, path, tenants, connections, leadIn, time, atMost, pause, answers);
    }
}

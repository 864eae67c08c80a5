package io.fairgate.benchmarks.load;

import java.time.Duration;

/**
 * An open loop: requests of one tenant arrive at a rate that does not depend on the answers, as those of many users do.
 *
 * @param perSecond requests that arrive
 * @param connections the most at a time; a request that finds none free is never sent
 * @param newPerSecond the most connections that are opened in a second, because a client that is refused pauses
 * @param patience after which a client gives up, and closes the connection
 * @param leadIn the time at the beginning in which nothing is counted
 * @param time how long requests arrive after that
 */
public record Arrivals(
        int port,
        String tenant,
        double perSecond,
        int connections,
        int newPerSecond,
        Duration patience,
        Duration leadIn,
        Duration time) {}

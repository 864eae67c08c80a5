package io.fairgate.benchmarks.load;

import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A service with a fixed capacity: a number of servers, each of which takes the same time for a request. Further
 * requests wait, first come, first served, as they would for a thread or for a database connection. To be called on its
 * event loop only.
 */
final class Station {

    /**
     * What the station has done since it was opened.
     *
     * @param busy the time of all servers together
     * @param mostAtOnce the most requests at a time since the last call, including those that wait in the station
     */
    record Statistics(Duration busy, int mostAtOnce) {}

    private final EventExecutor loop;
    private final Duration service;
    private final int servers;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int working;
    private long busyNanos;
    private long changedAt;
    private int mostAtOnce;

    Station(EventExecutor loop, Duration service, int servers) {
        this.loop = loop;
        this.service = service;
        this.servers = servers;
        this.changedAt = loop.ticker().nanoTime();
    }

    /** Serves a request. */
    void enter(Runnable done) {
        if (working < servers) {
            change(1);
            serve(done);
        } else {
            waiting.add(done);
        }
        mostAtOnce = Math.max(mostAtOnce, working + waiting.size());
    }

    private void serve(Runnable done) {
        var unused = loop.schedule(
                () -> {
                    Runnable next = waiting.poll();
                    if (next == null) {
                        change(-1);
                    } else {
                        serve(next);
                    }
                    done.run();
                },
                service.toNanos(),
                TimeUnit.NANOSECONDS);
    }

    private void change(int difference) {
        long now = loop.ticker().nanoTime();
        busyNanos += working * (now - changedAt);
        changedAt = now;
        working += difference;
    }

    Statistics statistics() {
        change(0);
        Statistics statistics = new Statistics(Duration.ofNanos(busyNanos), mostAtOnce);
        mostAtOnce = working + waiting.size();
        return statistics;
    }
}

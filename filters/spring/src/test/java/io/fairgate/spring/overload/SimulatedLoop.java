package io.fairgate.spring.overload;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;

/**
 * An event loop and its clients, in virtual time. The loop works in rounds, as Netty's do: it takes all that is ready, and
 * works on one after the other; then it runs what is due. Each kind of work takes a fixed time.
 */
final class SimulatedLoop {

    static final long SECOND = Duration.ofSeconds(1).toNanos();

    /** Between a request to the upstream and its response. */
    private static final long UPSTREAM = Duration.ofNanos(200_000).toNanos();

    /**
     * What the loop needs for each kind of work, in nanoseconds; the proportions are those of the gateway. A request takes
     * as much as a request and a response, which have a part each.
     */
    static final long REQUEST = 120_000;

    static final long RESPONSE = 80_000;
    static final long REFUSAL = 60_000;
    static final long CONNECTION = 400_000;
    static final long RESET = 140_000;
    static final long CLOSE = 80_000;

    /** The requests of a second that the loop can carry at most. */
    static final double PEAK = (double) SECOND / (REQUEST + RESPONSE);

    /** As many connections wait to be accepted at most; further ones are not noticed by the loop at all. */
    private static final int BACKLOG = 4096;

    /** So many connections are accepted in one round. */
    private static final int ACCEPTED = 16;

    private record Timed(long at, long order, Runnable step) implements Comparable<Timed> {
        @Override
        public int compareTo(Timed other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    private final LoopLoad load;
    private final ConnectionGate gate = new ConnectionGate();
    private final PriorityQueue<Timed> later = new PriorityQueue<>();
    private final Queue<SimulatedClient.Connection> backlog = new ArrayDeque<>();
    private List<Runnable> ready = new ArrayList<>();
    private long now;
    private long order;
    private long due = MeasuredLoop.PERIOD;

    SimulatedLoop(Duration maxLag) {
        this.load = new LoopLoad(maxLag, () -> 0x9E3779B9);
    }

    long now() {
        return now;
    }

    LoopLoad load() {
        return load;
    }

    void at(long time, Runnable step) {
        later.add(new Timed(time, order++, step));
    }

    void runUntil(long end) {
        while (now < end) {
            while (!later.isEmpty() && later.peek().at() <= now) {
                later.remove().step().run();
            }
            List<Runnable> round = ready;
            ready = new ArrayList<>();
            round.forEach(Runnable::run);
            for (int i = 0; i < ACCEPTED && !backlog.isEmpty(); i++) {
                accept(backlog.remove());
            }
            if (now >= due) {
                load.measured(now, now - due);
                gate.measured(now, load.isLate(), load.hasRoom());
                due = now + MeasuredLoop.PERIOD;
            }
            if (ready.isEmpty() && round.isEmpty() && backlog.isEmpty()) {
                now = Math.max(
                        now, Math.min(due, later.isEmpty() ? due : later.peek().at()));
            }
        }
    }

    /** A client has opened a connection, and has sent its first request. */
    void connect(SimulatedClient.Connection connection) {
        if (backlog.size() < BACKLOG) {
            backlog.add(connection);
        }
    }

    private void accept(SimulatedClient.Connection connection) {
        if (load.isOverloaded() && !gate.opens(now)) {
            now += RESET;
            at(now, connection::reset);
        } else {
            now += CONNECTION;
            read(connection, connection.request());
        }
    }

    /** A request is in the buffer of its connection. */
    void read(SimulatedClient.Connection connection, long request) {
        ready.add(() -> {
            if (load.admits(now, connection.client().hash(), connection.client().weight())) {
                forward(connection, request);
            } else {
                now += REFUSAL + CLOSE;
                at(now, () -> connection.refused(request));
            }
        });
    }

    private void forward(SimulatedClient.Connection connection, long request) {
        now += REQUEST;
        at(
                now + UPSTREAM,
                () -> ready.add(() -> {
                    now += RESPONSE;
                    at(now, () -> connection.served(request));
                }));
    }

    /** A client has closed a connection. */
    void close() {
        ready.add(() -> now += CLOSE);
    }

    /** Something else than the load keeps the loop busy. */
    void hang(long nanos) {
        ready.add(() -> now += nanos);
    }
}

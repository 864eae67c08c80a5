package io.fairgate.spring.overload;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A tenant that sends at a fixed rate, whatever becomes of its requests. It has 5,000 connections at the beginning; it opens up
 * to 500 in a second later, and gives up a request after half a second, which closes the connection.
 */
final class SimulatedClient {

    private static final int CONNECTIONS = 5_000;
    private static final int NEW_PER_SECOND = 500;
    private static final long PATIENCE = Duration.ofMillis(500).toNanos();

    private final SimulatedLoop loop;
    private final String name;
    private final double weight;
    private final Queue<Connection> idle = new ArrayDeque<>();
    private double perSecond;
    private long next;
    private long open;
    private double mayOpen;
    private long lastRequest;
    private long served;
    private long refused;
    private long gaveUp;

    SimulatedClient(SimulatedLoop loop, String name, double weight, double perSecond) {
        this.loop = loop;
        this.name = name;
        this.weight = weight;
        this.perSecond = perSecond;
        for (open = 0; open < CONNECTIONS; open++) {
            idle.add(new Connection());
        }
        loop.at(0, this::arrive);
    }

    int hash() {
        return name.hashCode();
    }

    double weight() {
        return weight;
    }

    /** Sends at this rate from now on. */
    void send(double perSecond) {
        this.perSecond = perSecond;
    }

    /** Forgets what was counted. */
    void count() {
        served = 0;
        refused = 0;
        gaveUp = 0;
    }

    long served() {
        return served;
    }

    long refused() {
        return refused;
    }

    long gaveUp() {
        return gaveUp;
    }

    private void arrive() {
        long time = next;
        double pause = SimulatedLoop.SECOND / perSecond;
        mayOpen = Math.min(NEW_PER_SECOND, mayOpen + NEW_PER_SECOND / perSecond);
        Connection free = idle.poll();
        if (free != null) {
            free.send(time);
        } else if (open < CONNECTIONS && mayOpen >= 1) {
            mayOpen--;
            open++;
            Connection connection = new Connection();
            connection.begin(time);
            loop.connect(connection);
        }
        next = time + (long) pause;
        loop.at(next, this::arrive);
    }

    /** A connection, with one request at a time. */
    final class Connection {

        private boolean isOpen = true;
        private long request;

        SimulatedClient client() {
            return SimulatedClient.this;
        }

        long request() {
            return request;
        }

        private void begin(long time) {
            request = ++lastRequest;
            long sent = request;
            loop.at(time + PATIENCE, () -> {
                if (isOpen && request == sent) {
                    gaveUp++;
                    close();
                    loop.close();
                }
            });
        }

        void send(long time) {
            begin(time);
            loop.read(this, request);
        }

        void served(long answered) {
            if (isOpen && request == answered) {
                served++;
                free();
            }
        }

        void refused(long answered) {
            if (isOpen && request == answered) {
                refused++;
                close();
            }
        }

        void reset() {
            if (isOpen) {
                close();
            }
        }

        private void free() {
            request = 0;
            idle.add(this);
        }

        private void close() {
            isOpen = false;
            open--;
        }
    }
}

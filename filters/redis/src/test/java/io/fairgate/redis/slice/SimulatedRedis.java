package io.fairgate.redis.slice;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A Redis with a replica that lags: a failover brings back an earlier state, on another server with another clock, while the
 * old server still answers for a while to those that are connected to it.
 */
final class SimulatedRedis {

    /** How long a server that has lost its replica goes on, at most. */
    static final long ISOLATED_MILLIS = 700;

    /** The most that a replica lags. */
    private static final long LAG_MILLIS = 1_000;

    /** One server: its state, its identity, and its clock. */
    static final class Server {
        LedgerState state;
        final String identity;
        long clockOffset;
        long stopsAt = Long.MAX_VALUE;

        Server(LedgerState state, String identity, long clockOffset) {
            this.state = state;
            this.identity = identity;
            this.clockOffset = clockOffset;
        }

        long wall(long now) {
            return now + clockOffset;
        }
    }

    private record Snapshot(long at, LedgerState state) {}

    private final SplittableRandom random;
    private final Deque<Snapshot> snapshots = new ArrayDeque<>();
    private Server master;
    private @Nullable Server isolated;
    private long startsAt;
    private long lastJump = Long.MIN_VALUE / 2;
    private long replicated = Long.MIN_VALUE;
    private int servers;

    SimulatedRedis(SplittableRandom random) {
        this.random = random;
        this.master = newServer(new LedgerState());
    }

    private Server newServer(LedgerState state) {
        return new Server(state, "server-" + servers++, 1_000_000 + random.nextLong(-30_000, 30_000));
    }

    /** The server that answers now; null while no server runs. */
    @Nullable
    Server server(long now, boolean onOldSide) {
        Server old = isolated;
        if (onOldSide && old != null && now < old.stopsAt) {
            return old;
        }
        return now < startsAt ? null : master;
    }

    LedgerState state() {
        return master.state;
    }

    /** Keeps a state from time to time, to fail over to. */
    void changed(long now) {
        if (snapshots.isEmpty() || snapshots.getLast().at() < now - 20) {
            keep(now);
        }
    }

    private void keep(long now) {
        snapshots.addLast(new Snapshot(now, master.state.copy()));
        while (snapshots.size() > 1 && snapshots.getFirst().at() < now - 2 * LAG_MILLIS) {
            snapshots.removeFirst();
        }
    }

    /** The replica has all writes until now: no failover loses them. Only a master with a replica can say that. */
    boolean replicate(Server by, long now) {
        if (by != master) {
            return false;
        }
        replicated = now;
        keep(now);
        return true;
    }

    void failOver(long now) {
        long oldest = Math.max(now - random.nextLong(LAG_MILLIS), replicated);
        LedgerState kept = new LedgerState();
        for (Snapshot snapshot : snapshots) {
            if (snapshot.at() <= oldest) {
                kept = snapshot.state().copy();
            }
        }
        boolean hadAny = !snapshots.isEmpty() && snapshots.getFirst().at() <= oldest;
        isolated = random.nextBoolean() ? master : null;
        if (isolated != null) {
            isolated.stopsAt = now + random.nextLong(ISOLATED_MILLIS);
        }
        master = newServer(hadAny || snapshots.isEmpty() ? kept : master.state.copy());
        startsAt = now + random.nextLong(isolated == null ? 2_000 : 100);
        snapshots.clear();
        snapshots.addLast(new Snapshot(now, master.state.copy()));
    }

    void flush(long now) {
        master.state = new LedgerState();
        snapshots.clear();
        keep(now);
    }

    /** A step of the clock, forward or back; at most one while a term or a lease holds, as the protocol assumes. */
    void stepClock(long now) {
        if (now - lastJump > 12_000) {
            lastJump = now;
            long[] steps = {-60_000, -30_000, -5_000, 5_000, 30_000, 60_000};
            master.clockOffset += steps[random.nextInt(steps.length)];
        }
    }
}

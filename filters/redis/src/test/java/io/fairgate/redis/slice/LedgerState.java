package io.fairgate.redis.slice;

import java.util.Map;
import java.util.TreeMap;

/** What Redis keeps of one pool. All times are in milliseconds of the ledger's own clock. */
final class LedgerState {

    /** One node; {@code hasEnded} keeps its name from being used again. */
    record Node(int slice, long sequence, long expires, int limit, boolean hasAsserted, boolean hasEnded) {

        Node ended(long until) {
            return new Node(0, sequence, until, limit, hasAsserted, true);
        }

        Node expiring(long at) {
            return new Node(slice, sequence, at, limit, hasAsserted, hasEnded);
        }
    }

    record Lease(int permits, long expires, long ttl, long token) {
        Lease expiring(long at) {
            return new Lease(permits, at, ttl, token);
        }

        Lease lasting(long ttlMillis) {
            return new Lease(permits, expires, ttlMillis, token);
        }
    }

    long clock;
    long wall;
    String server = "";
    long epoch;
    long version;
    long recoveringUntil;
    long fence;
    final Map<String, Node> nodes = new TreeMap<>();
    /** What each live node told last. */
    final Map<String, String> demands = new TreeMap<>();

    final Map<String, Lease> leases = new TreeMap<>();
    /** Leases that have ended, until when this is remembered. */
    final Map<String, Long> endedLeases = new TreeMap<>();

    LedgerState copy() {
        LedgerState copy = new LedgerState();
        copy.clock = clock;
        copy.wall = wall;
        copy.server = server;
        copy.epoch = epoch;
        copy.version = version;
        copy.recoveringUntil = recoveringUntil;
        copy.fence = fence;
        copy.nodes.putAll(nodes);
        copy.demands.putAll(demands);
        copy.leases.putAll(leases);
        copy.endedLeases.putAll(endedLeases);
        return copy;
    }

    boolean isRecovering() {
        return clock < recoveringUntil;
    }

    int used() {
        return nodes.values().stream().mapToInt(Node::slice).sum()
                + leases.values().stream().mapToInt(Lease::permits).sum();
    }
}

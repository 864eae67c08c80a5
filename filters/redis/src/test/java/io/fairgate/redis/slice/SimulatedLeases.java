package io.fairgate.redis.slice;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The holders of leases. Each extends its lease through any node, and stops to work when no answer has said in time that it still
 * has the lease.
 */
final class SimulatedLeases {

    private static final class Held {
        final LeaseClaim lease;
        long until;
        /** Only its node could have asserted it, and it is lost with that node. */
        boolean isOutOfReach;

        Held(LeaseClaim lease, long until) {
            this.lease = lease;
            this.until = until;
        }
    }

    private final ClusterSimulation cluster;
    private final SplittableRandom random;
    private final Map<String, Held> held = new HashMap<>();
    private final Map<String, SimulatedNode> knownBy = new HashMap<>();
    /** The leases that their holders have got. An answer can come twice, and a holder gets its lease once. */
    private final Set<String> granted = new HashSet<>();

    private int ids;
    private boolean isStopped;

    SimulatedLeases(ClusterSimulation cluster, SplittableRandom random) {
        this.cluster = cluster;
        this.random = random;
    }

    LeaseClaim newLease(int permits) {
        return new LeaseClaim("lease-" + ids++, permits, 1_000 + random.nextLong(9_000), 0);
    }

    /** The permits that holders may use now. */
    int held(long now) {
        return held.values().stream()
                .filter(each -> now < each.until && !each.isOutOfReach)
                .mapToInt(each -> each.lease.permits())
                .sum();
    }

    int inLedger() {
        return cluster.redis().state().leases.values().stream()
                .mapToInt(LedgerState.Lease::permits)
                .sum();
    }

    /** The ledger has the lease. The holder gets it when the replica has it as well. */
    void recorded(SimulatedNode node, LeaseClaim lease, long sentAt) {
        cluster.call(node, server -> cluster.redis().replicate(server, cluster.now()), isReplicated -> {
            if (isReplicated && granted.add(lease.id())) {
                held.put(lease.id(), new Held(lease, end(lease, sentAt)));
                knownBy.put(lease.id(), node);
                cluster.after(lease.ttlMillis() / 3, () -> next(lease.id()));
            }
        });
    }

    private long end(LeaseClaim lease, long sentAt) {
        SliceTerm term = cluster.term();
        return sentAt
                + (long) (lease.ttlMillis() * (1 - 2 * term.drift()))
                - term.maxStep().toMillis()
                - term.margin().toMillis();
    }

    /** Extends or releases. */
    private void next(String id) {
        Held lease = held.get(id);
        if (lease == null || cluster.now() >= lease.until) {
            held.remove(id);
            return;
        }
        SimulatedNode node = cluster.anyNode();
        if (node.isPaused(cluster.now())) {
            cluster.after(100, () -> next(id));
        } else if (isStopped || random.nextInt(4) == 0) {
            held.remove(id);
            node.agent.forget(id);
            cluster.call(
                    node,
                    server -> {
                        cluster.kernel()
                                .release(
                                        server.state,
                                        id,
                                        lease.lease.token(),
                                        LedgerVersion.NONE,
                                        server.wall(cluster.now()),
                                        server.identity);
                        return id;
                    },
                    any -> {});
        } else {
            extend(node, lease);
            cluster.after(lease.lease.ttlMillis() / 3, () -> next(id));
        }
    }

    private void extend(SimulatedNode node, Held lease) {
        long sentAt = cluster.now();
        cluster.call(
                node,
                server -> cluster.kernel()
                        .extend(
                                server.state,
                                lease.lease.id(),
                                lease.lease.token(),
                                lease.lease.ttlMillis(),
                                LedgerVersion.NONE,
                                server.wall(cluster.now()),
                                server.identity),
                isHeld -> {
                    if (isHeld) {
                        lease.until = Math.max(lease.until, end(lease.lease, sentAt));
                    }
                });
    }

    void restarted(SimulatedNode node) {
        knownBy.values().removeIf(each -> each == node);
    }

    /** What no node knows any more cannot be asserted. */
    void flushed() {
        held.forEach((id, lease) -> lease.isOutOfReach |= !knownBy.containsKey(id));
    }

    void stop() {
        isStopped = true;
    }
}

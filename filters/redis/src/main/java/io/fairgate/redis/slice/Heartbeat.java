package io.fairgate.redis.slice;

import java.util.List;

/**
 * What a node tells the ledger of one pool.
 *
 * @param node names one run of one gateway
 * @param sequence counts the node's heartbeats from 1
 * @param seen the latest state of the ledger that the node was told
 * @param kept the permits that the node keeps for requests: it uses no others, except those of {@code leases}
 * @param wanted the permits that the node would like to have for requests
 * @param limit the permits that the ledger divides, by the policy of the node
 * @param leases new leases, and leases that the ledger may have lost
 * @param demand what the node tells the other nodes; the ledger only passes it on
 * @param isLast whether the node ends; it then keeps nothing
 */
record Heartbeat(
        String node,
        long sequence,
        LedgerVersion seen,
        int kept,
        int wanted,
        int limit,
        List<LeaseClaim> leases,
        String demand,
        boolean isLast) {

    Heartbeat {
        leases = List.copyOf(leases);
        if (sequence < 1 || kept < 0 || wanted < 0 || limit < 0 || (isLast && kept > 0)) {
            throw new IllegalArgumentException(
                    "heartbeat %d of %s: kept %d, wanted %d of %d%s (expected: sequence >= 1, all others >= 0, last keeps 0)"
                            .formatted(sequence, node, kept, wanted, limit, isLast ? ", last" : ""));
        }
    }
}

package io.fairgate.redis.slice;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * All states that two nodes and a ledger of two permits can reach while messages are lost, repeated and reordered, terms end and one
 * failover brings back an earlier state: breadth first, so a path to a mistake is one of the shortest. Time does not pass; the end of a term,
 * and what the ledger does when it has ended, are steps of their own, in the order that the clocks ensure.
 */
final class Exploration {

    /**
     * What was found.
     *
     * @param states how many different states were seen
     * @param mistake the steps to a state with too many permits, or empty
     */
    record Result(int states, List<String> mistake) {}

    private final Set<Guard> without;
    private final int beats;
    private final List<String> start;

    /**
     * An exploration from a state on.
     *
     * @param beats how many heartbeats each node sends at most
     * @param start the steps to the state with which it begins
     */
    Exploration(Set<Guard> without, int beats, List<String> start) {
        this.without = without;
        this.beats = beats;
        this.start = start;
    }

    Result explore(int mostStates) {
        Set<String> seen = new HashSet<>();
        Deque<List<String>> next = new ArrayDeque<>();
        next.add(start);
        seen.add(replayed(start).toString());
        while (!next.isEmpty() && seen.size() < mostStates) {
            List<String> path = next.remove();
            for (String step : replayed(path).steps(beats)) {
                List<String> longer = new ArrayList<>(path);
                longer.add(step);
                SmallCluster cluster = replayed(longer);
                if (cluster.usable() > SmallCluster.PERMITS) {
                    return new Result(seen.size(), longer);
                }
                if (seen.add(cluster.toString())) {
                    next.add(longer);
                }
            }
        }
        return new Result(seen.size(), List.of());
    }

    /** States are not copied: an agent is the one of the product, and has no copies. */
    private SmallCluster replayed(List<String> path) {
        SmallCluster cluster = new SmallCluster(without);
        path.forEach(cluster::take);
        return cluster;
    }
}

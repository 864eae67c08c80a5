package io.fairgate.fairness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The definition of the answers of a {@link RunQueue}: it keeps only a list, and scans it each time.
 */
final class ScanRunQueue implements RunQueue {

    private final List<SchedulingNode> nodes = new ArrayList<>();
    private long gain;

    @Override
    public void add(SchedulingNode node, long contendedNow) {
        nodes.add(node);
    }

    @Override
    public void remove(SchedulingNode node, long contendedNow) {
        nodes.remove(node);
    }

    @Override
    public void beforeChange(SchedulingNode node, long contendedNow) {}

    @Override
    public void afterChange(SchedulingNode node, long contendedNow) {}

    @Override
    public void afterChangeOfQueue(SchedulingNode node) {}

    @Override
    public void afterChangeOfAll(long contendedNow, long gain) {
        this.gain = gain;
    }

    @Override
    public boolean isEmpty() {
        return nodes.isEmpty();
    }

    @Override
    public int size() {
        return nodes.size();
    }

    @Override
    public double virtualTime(long contendedNow) {
        boolean byTheirKeys = nodes.stream().anyMatch(node -> !node.isServedFirst);
        long permitTime = 0;
        long weightUnits = 0;
        for (SchedulingNode node : nodes) {
            if (!byTheirKeys || !node.isServedFirst) {
                permitTime += node.permitTime(contendedNow);
                weightUnits += node.weightUnits;
            }
        }
        return (double) permitTime / weightUnits;
    }

    @Override
    public long weightUnits() {
        long sum = 0;
        for (SchedulingNode node : nodes) {
            sum += node.weightUnits;
        }
        return sum;
    }

    @Override
    public long leastCost() {
        return nodes.stream().mapToLong(SchedulingNode::leastCost).min().orElseThrow();
    }

    @Override
    public @Nullable SchedulingNode firstWithinReservation(long contendedNow, Predicate<SchedulingNode> test) {
        return least(node -> node.leastCost() == 0 && test.test(node), node -> node.key(contendedNow, gain));
    }

    @Override
    public @Nullable SchedulingNode mostUrgent() {
        return least(SchedulingNode::isPromised, SchedulingNode::partOfGuarantee);
    }

    @Override
    public @Nullable SchedulingNode mostUrgentOf(Predicate<SchedulingNode> test) {
        return least(node -> node.isPromised() && test.test(node), SchedulingNode::partOfGuarantee);
    }

    @Override
    public @Nullable SchedulingNode first(long contendedNow) {
        return least(node -> true, node -> node.key(contendedNow, gain));
    }

    private @Nullable SchedulingNode least(Predicate<SchedulingNode> which, ToDoubleFunction<SchedulingNode> key) {
        SchedulingNode least = null;
        for (SchedulingNode node : nodes) {
            if (which.test(node) && (least == null || order(node, least, key) < 0)) {
                least = node;
            }
        }
        return least;
    }

    private static int order(SchedulingNode a, SchedulingNode b, ToDoubleFunction<SchedulingNode> key) {
        int byKey = Double.compare(key.applyAsDouble(a), key.applyAsDouble(b));
        int byLastGrant = byKey != 0 ? byKey : Long.compare(a.lastGrant, b.lastGrant);
        return byLastGrant != 0 ? byLastGrant : Long.compare(a.ordinal, b.ordinal);
    }
}

package io.fairgate.redis.slice;

/**
 * Whether a node goes on without its ledger, and with how many permits. All times are nanoseconds of the node's clock. Not for use by
 * several threads at once.
 */
final class Outage {

    /** An outage begins that long before the end of a slice. In this time at least one heartbeat begins, so that no request is refused. */
    private static final long EARLY =
            SliceNode.PATIENCE.plus(SliceNode.BEATS.multipliedBy(2)).toNanos();

    private final OutagePolicy policy;
    private final SliceTerm term;

    private int size;
    private int nodes;
    private boolean isOn;
    /** The part of the node in the latest outage: later it may know fewer nodes, because others have not come back. */
    private int part;

    private int first;
    private long restAt;
    private boolean hasEnded;
    private long endedAt;

    /** @param size the permits of the whole pool */
    Outage(OutagePolicy policy, SliceTerm term, int size) {
        this.policy = policy;
        this.term = term;
        this.size = size;
    }

    /** @param permits of the whole pool; while the policies of nodes differ, the fewest */
    void size(int permits) {
        size = permits;
    }

    /** @param live how many nodes the ledger knows */
    void nodes(int live) {
        nodes = live;
    }

    /** The permits that the ledger divides. */
    int divided() {
        return policy.divided(size, nodes);
    }

    /** The permits that this node always has, beside its slice. */
    int reserve() {
        return policy.reserve(size);
    }

    private int alone() {
        return policy.alone(size, nodes);
    }

    /** Whether the node must go on by itself now, or does so already. */
    boolean isDue(long now, long grantsUntil) {
        return alone() > 0 && now - grantsUntil >= -EARLY;
    }

    boolean isOn() {
        return isOn;
    }

    /**
     * The permits of the node during the outage. Other nodes may have more than their parts until their slices have ended, so that this
     * node takes no more than its slice until then.
     *
     * @param slice the slice that is about to end
     */
    int permits(long now, long grantsUntil, int slice) {
        if (!isOn) {
            isOn = true;
            part = alone();
            first = Math.min(slice + reserve(), alone());
            restAt = grantsUntil - term.grantNanos() + term.ttl().toNanos();
        }
        return now - restAt < 0 ? first : alone();
    }

    /**
     * Whether the node goes on by itself although there is an answer: the answer came too late to give a slice, or the node gets none yet,
     * because the slices from before the outage have not ended, or no slice grows after lost writes.
     *
     * @param slice what the node has by the answer
     * @param target what it should have
     * @param grantsUntil when the slice of the answer ends
     */
    boolean outlasts(int slice, int target, long now, long grantsUntil) {
        return now - grantsUntil >= 0 || (slice == 0 && target > 0);
    }

    void end(long now) {
        isOn = false;
        hasEnded = true;
        endedAt = now;
    }

    /**
     * The target that the node may have now. For a while after an outage, an optimistic node takes no more than its part: others may still
     * go on by themselves.
     */
    int bounded(int target, long now) {
        hasEnded = hasEnded && now - endedAt < term.ttl().toNanos();
        return policy.isOptimistic() && hasEnded ? Math.min(target, part) : target;
    }
}

package io.fairgate.redis.slice;

import java.time.Duration;

/**
 * Whether a node goes on without its ledger, and with how many permits; and its reserve for that. All times are nanoseconds of the node's
 * clock. Not for use by several threads at once.
 */
final class Outage {

    /** An outage begins that long before the end of a slice. In this time at least one heartbeat begins, so that no request is refused. */
    private static final long EARLY =
            SliceNode.PATIENCE.plus(HeartbeatTimer.BEATS.multipliedBy(2)).toNanos();

    /** How long a number of nodes is remembered, and again as long: nodes that are cut off before this one are still counted. */
    private static final long REMEMBERED = Duration.ofMinutes(1).toNanos();

    private final OutagePolicy policy;
    private final SliceTerm term;

    private int size;
    /** The reserve in use: it grows only when the ledger has room for it. */
    private int reserve;
    /** The most nodes in the last minute or less, and in the minute before. */
    private int nodes;

    private int nodesBefore;
    private long countedSince;

    private boolean isOn;
    /** The part of the node in the latest outage. */
    private int lastPart;
    /** The permits until the slices of the others have ended. */
    private int untilOthersEnd;

    private long othersEndAt;
    private boolean isAnswered;
    private long answeredAt;
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

    /**
     * The ledger has answered.
     *
     * @param live how many nodes it knows
     * @param hasRoom whether all slices fit into what the ledger divides
     * @param limitSent what it was told to divide, at most
     */
    void answered(int live, boolean hasRoom, int limitSent, long now) {
        if (nodes == 0 || now - countedSince >= REMEMBERED) {
            nodesBefore = nodes;
            nodes = live;
            countedSince = now;
        }
        nodes = Math.max(nodes, live);
        reserve = hasRoom && limitSent <= divided() ? policy.reserve(size) : reserve();
    }

    private int knownNodes() {
        return Math.max(nodes, nodesBefore);
    }

    /** The permits that the ledger divides. */
    int divided() {
        return policy.divided(size, nodes);
    }

    /** The permits that each node serves beside its slice, as soon as the ledger has room for them. */
    int reserveToCome() {
        return policy.reserve(size);
    }

    /** The permits that this node always has, beside its slice. */
    int reserve() {
        return Math.min(reserve, policy.reserve(size));
    }

    /** The permits without answers of the ledger. A node that never had one has its reserve all the same. */
    private int alone() {
        return policy.isOptimistic() || knownNodes() == 0 ? policy.alone(size, knownNodes()) : reserve();
    }

    /** Whether the node must begin or continue to grant by itself, or must stop that. */
    boolean isDue(long now, long grantsUntil) {
        return (isOn || alone() > 0) && now - grantsUntil >= -EARLY;
    }

    /** Whether there is anything that the node may grant by itself. */
    boolean isPossible() {
        return alone() > 0;
    }

    boolean isOn() {
        return isOn;
    }

    /**
     * The permits of the node during the outage. Other nodes may have more than their parts until their slices have ended, so that an
     * optimistic node takes no more than its slice until then; and if there is an answer before, others may have been answered in time.
     *
     * @param slice the slice that is about to end
     */
    int permits(long now, long grantsUntil, int slice) {
        if (!isOn) {
            isOn = true;
            isAnswered = false;
            lastPart = alone();
            untilOthersEnd = policy.isOptimistic() ? Math.min(slice, alone()) : alone();
            othersEndAt = grantsUntil - term.grantNanos() + term.ttl().toNanos();
        }
        boolean mayOthersGoOn = now - othersEndAt < 0 || (isAnswered && answeredAt - othersEndAt < 0);
        return mayOthersGoOn ? Math.min(untilOthersEnd, alone()) : alone();
    }

    /**
     * The slice that the node asks for in an outage. An optimistic node asks at least for the permits that its requests hold, so that the ledger
     * does not give them to others.
     *
     * @param target what it should have
     * @param inFlight beside the reserve
     */
    int wanted(int target, int inFlight) {
        return policy.isOptimistic() ? Math.max(target, Math.min(inFlight, alone())) : target;
    }

    /**
     * Whether the node goes on by itself although there is an answer: the answer came too late to give a slice; or nodes get nothing after
     * lost writes; or the node gets nothing for a term at most, because the slices from before the outage have not ended.
     *
     * @param slice what the node has by the answer
     * @param target what it should have
     * @param grantsUntil when the slice of the answer ends
     */
    boolean outlasts(SliceAnswer answer, int slice, int target, long now, long grantsUntil) {
        if (now - grantsUntil >= 0) {
            return true;
        }
        if (!isAnswered) {
            isAnswered = true;
            answeredAt = now;
        }
        return answer.isRecovering()
                ? slice == 0 && (policy.isOptimistic() || target > 0)
                : slice == 0 && target > 0 && now - answeredAt < term.ttl().toNanos();
    }

    void end(long now) {
        isOn = false;
        hasEnded = true;
        endedAt = now;
    }

    /**
     * The target that the node may have now. In an outage, and for a while after it, an optimistic node takes no more than its part: others may
     * still go on by themselves, and what runs there must have room in the ledger.
     */
    int bounded(int target, long now) {
        hasEnded = hasEnded && now - endedAt < 2 * term.ttl().toNanos();
        return policy.isOptimistic() && (isOn || hasEnded) ? Math.min(target, Math.min(lastPart, alone())) : target;
    }
}

package io.fairgate.redis.slice;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The node's side of the protocol for one pool, without clock, threads or network: the time is an argument, in nanoseconds of a
 * clock that never goes back. Not for use by several threads at once.
 */
final class SliceAgent {

    private final SliceTerm term;
    private final Supplier<String> names;

    private String node;
    private long sequence;
    private LedgerVersion seen = LedgerVersion.NONE;

    /** All permits that requests and new leases of this node may hold. */
    private int slice;

    /** What the node should have; advice. */
    private int target;

    private long sentAt;
    private long grantsUntil;
    private long endsAt;
    private @Nullable Heartbeat unanswered;

    /** Granted here, not known to be in the ledger; their permits are still part of the slice. */
    private final Map<String, LeaseClaim> unrecorded = new LinkedHashMap<>();

    /** In the ledger, by what this node knows: it asserts them when the ledger may have lost them. */
    private final Map<String, LeaseClaim> recorded = new LinkedHashMap<>();

    /** Those of {@code recorded} that this node has not asserted yet: other nodes have granted them. */
    private final Set<String> unasserted = new HashSet<>();

    /** What the live nodes told last, this one included. */
    private Map<String, String> demands = Map.of();

    /** The epoch in which all of {@code recorded} are known to be in the ledger. */
    private long assertedIn;

    /** @param names a name that no other node has and had, each time */
    SliceAgent(SliceTerm term, Supplier<String> names) {
        this.term = term;
        this.names = names;
        this.node = names.get();
    }

    /**
     * The next heartbeat. The node has nothing on its way, or has given up waiting for the answer.
     *
     * @param limit the permits that the ledger divides, by the policy of the node
     * @param inUse the permits that requests and unrecorded leases hold
     * @param demand what the node tells the other nodes
     */
    Heartbeat beat(long now, int limit, int inUse, String demand) {
        endIfOver(now);
        shrink(inUse);
        List<LeaseClaim> leases = new ArrayList<>(unrecorded.values());
        boolean isNewEpoch = assertedIn < seen.epoch();
        recorded.values().stream()
                .filter(lease -> isNewEpoch || unasserted.contains(lease.id()))
                .forEach(leases::add);
        sentAt = now;
        unanswered = new Heartbeat(node, ++sequence, seen, slice - moving(), target, limit, leases, demand, false);
        return unanswered;
    }

    /** The last heartbeat: the node keeps nothing. Leases stay in the ledger. */
    Heartbeat lastBeat() {
        unanswered = null;
        slice = 0;
        unrecorded.clear();
        return new Heartbeat(node, ++sequence, seen, 0, 0, 0, List.of(), "", true);
    }

    /**
     * Takes an answer. Only the answer to the latest heartbeat counts: an earlier one may promise permits that the node has given
     * up since.
     *
     * @return the new leases that are in the ledger now, with their tokens, and those that have ended, with token 0
     */
    List<LeaseClaim> answered(SliceAnswer answer, long now) {
        endIfOver(now);
        Heartbeat asked = unanswered;
        if (asked == null || answer.sequence() != asked.sequence()) {
            return List.of();
        }
        unanswered = null;
        if (answer.outcome() != SliceAnswer.Outcome.RECORDED) {
            if (answer.outcome() == SliceAnswer.Outcome.ENDED) {
                beginAgain();
            }
            return List.of();
        }
        if (asked.seen().epoch() == answer.now().epoch()) {
            assertedIn = answer.now().epoch();
        }
        seen = answer.now();
        List<LeaseClaim> moved = move(asked, answer);
        slice = answer.slice();
        demands = answer.demands();
        grantsUntil = sentAt + term.grantNanos();
        endsAt = sentAt + term.nanos();
        endIfOver(now);
        return moved;
    }

    private List<LeaseClaim> move(Heartbeat asked, SliceAnswer answer) {
        List<LeaseClaim> moved = new ArrayList<>();
        for (LeaseClaim lease : asked.leases()) {
            unasserted.remove(lease.id());
            Long token = answer.tokens().get(lease.id());
            if (token == null) {
                recorded.remove(lease.id());
            } else if (lease.isNew() || recorded.containsKey(lease.id())) {
                recorded.put(lease.id(), lease.recorded(token));
            }
            if (lease.isNew() && unrecorded.remove(lease.id()) != null) {
                moved.add(lease.recorded(token == null ? 0 : token));
            }
        }
        return moved;
    }

    /** The slice that the node should have, by what all nodes want. Any number is safe. */
    void aimAt(int permits) {
        target = permits;
    }

    /** A lease that the local scheduler has granted from the slice; its permits count as in use until it is recorded. */
    void granted(LeaseClaim lease) {
        unrecorded.put(lease.id(), lease);
    }

    /** Whether the lease is part of the slice until the ledger has recorded it. */
    boolean isMoving(String id) {
        return unrecorded.containsKey(id);
    }

    /** The ledger keeps the lease for this time: if the node has to assert it, it says so. */
    void lasts(String id, long ttlMillis) {
        recorded.computeIfPresent(id, (same, lease) -> lease.lasting(ttlMillis));
    }

    /** A lease that another node may have granted: this one asserts it with the next heartbeat, and in each new epoch. */
    void keep(LeaseClaim lease) {
        if (unrecorded.containsKey(lease.id())) {
            return;
        }
        LeaseClaim known = recorded.get(lease.id());
        if (known == null) {
            unasserted.add(lease.id());
        }
        recorded.put(lease.id(), known == null ? lease : known.lasting(lease.ttlMillis()));
    }

    /** A lease that this node knows to have ended: it asserts it no more. */
    void forget(String id) {
        recorded.remove(id);
        unasserted.remove(id);
    }

    /**
     * Gives up what is above the target and not in use, before the next heartbeat says so.
     *
     * @param inUse may be more than the slice: requests of an earlier term may still run, and the ledger must not be told of them
     */
    void shrink(int inUse) {
        slice = Math.min(slice, Math.max(target, inUse));
    }

    /** The permits that requests and unrecorded leases of this node may hold; 0 when its term has ended. */
    int slice(long now) {
        return isOver(now) ? 0 : slice;
    }

    /** Whether the node may grant permits of its slice now; a while before its term ends it may not. */
    boolean mayGrant(long now) {
        return slice(now) > 0 && now - grantsUntil < 0;
    }

    /** When the node must grant nothing more, unless another answer comes before. */
    long grantsUntil() {
        return grantsUntil;
    }

    /** The permits of leases that are not recorded yet. */
    int moving() {
        return unrecorded.values().stream().mapToInt(LeaseClaim::permits).sum();
    }

    String node() {
        return node;
    }

    /** What each live node has told, by its name; of this node, what the ledger had from it when it answered last. */
    Map<String, String> demands() {
        return demands;
    }

    private boolean isOver(long now) {
        return slice > 0 && now - endsAt >= 0;
    }

    private void endIfOver(long now) {
        if (isOver(now)) {
            beginAgain();
        }
    }

    /**
     * Under another name, so that the ledger does not take a late heartbeat for one of the new term. The sequence goes on, so that
     * no answer to the old name is taken for one to the new.
     */
    private void beginAgain() {
        Map<String, String> ofOthers = new HashMap<>(demands);
        ofOthers.remove(node);
        demands = ofOthers;
        node = names.get();
        slice = 0;
        unanswered = null;
        unrecorded.clear();
    }

    @Override
    public String toString() {
        return node + " at " + sequence + ": " + slice + " of " + target + " permits, seen " + seen
                + (unanswered == null ? "" : ", waits for an answer")
                + (unrecorded.isEmpty() ? "" : ", moves " + unrecorded.values())
                + (recorded.isEmpty() ? "" : ", knows " + recorded.values());
    }
}

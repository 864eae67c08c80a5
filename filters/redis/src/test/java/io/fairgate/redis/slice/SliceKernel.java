package io.fairgate.redis.slice;

import io.fairgate.redis.slice.LedgerState.Lease;
import io.fairgate.redis.slice.LedgerState.Node;
import io.fairgate.redis.slice.SliceAnswer.Outcome;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The model of the scripts: what Redis does with a call, as a function of the state, the call, Redis' clock and the identity of
 * the server. Each guard can be left out, to see that it is needed.
 */
final class SliceKernel {

    /** A token is the epoch and a count: 53 bits together, as many as Lua's numbers have. */
    static final int FENCE_BITS = 40;

    private final long ttl;
    private final long maxStep;
    private final long failover;
    private final long recovery;
    private final long remembered;
    private final Set<Guard> without;

    SliceKernel(SliceTerm term, long failoverMillis, Set<Guard> without) {
        this.ttl = term.ttl().toMillis();
        this.maxStep = term.maxStep().toMillis();
        this.failover = failoverMillis;
        this.recovery = ttl + maxStep + failoverMillis;
        this.remembered = 10 * ttl;
        this.without = without.isEmpty() ? EnumSet.noneOf(Guard.class) : EnumSet.copyOf(without);
    }

    private boolean has(Guard guard) {
        return !without.contains(guard);
    }

    SliceAnswer heartbeat(LedgerState state, Heartbeat beat, long wall, String server) {
        begin(state, beat.seen(), wall, server);
        Node node = state.nodes.get(beat.node());
        if (node != null && node.hasEnded() && has(Guard.ENDED_NODES)) {
            return answer(state, beat, Outcome.ENDED, false, Map.of());
        }
        if (node != null && beat.sequence() <= node.sequence() && has(Guard.SEQUENCE)) {
            return answer(state, beat, Outcome.STALE, false, Map.of());
        }
        if (node == null || node.hasEnded()) {
            node = new Node(0, 0, 0, beat.limit(), false, false);
        }
        boolean asserts = node.hasAsserted();
        if (kept(state, beat) > node.slice() && !state.isRecovering() && has(Guard.KEPT_IS_EVIDENCE)) {
            if (asserts) {
                end(state, beat.node(), node);
                return answer(state, beat, Outcome.ENDED, false, Map.of());
            }
            asserts = true;
            lost(state, 0);
        }
        Map<String, Long> tokens = record(state, beat);
        Node recorded = new Node(beat.kept(), beat.sequence(), state.clock + ttl, beat.limit(), asserts, false);
        state.nodes.put(beat.node(), recorded);
        state.demands.put(beat.node(), beat.demand());
        boolean hasRoom = state.used() <= limit(state);
        if (beat.isLast()) {
            end(state, beat.node(), recorded);
        }
        grow(state, beat);
        state.version++;
        return answer(state, beat, Outcome.RECORDED, hasRoom, tokens);
    }

    /** Has a lease last for a time at least, and returns whether it is held now. */
    boolean extend(
            LedgerState state, String id, long token, long ttlMillis, LedgerVersion seen, long wall, String server) {
        begin(state, seen, wall, server);
        Lease lease = state.leases.get(id);
        if (lease == null || !isOf(lease, token)) {
            return false;
        }
        state.leases.put(id, lease.lasting(ttlMillis).expiring(Math.max(lease.expires(), state.clock + ttlMillis)));
        state.version++;
        return true;
    }

    /**
     * Ends a lease; one that has ended before, or has another token, is left alone. One that is unknown has ended.
     *
     * @param token 0 for any
     * @return whether this call has ended it
     */
    boolean release(LedgerState state, String id, long token, LedgerVersion seen, long wall, String server) {
        begin(state, seen, wall, server);
        Lease lease = state.leases.get(id);
        if (lease == null) {
            state.endedLeases.put(id, state.clock + remembered);
            return false;
        }
        if (!isOf(lease, token)) {
            return false;
        }
        end(state, id);
        state.version++;
        return true;
    }

    private static boolean isOf(Lease lease, long token) {
        return token == 0 || lease.token() == token;
    }

    private void begin(LedgerState state, LedgerVersion seen, long wall, String server) {
        long step = wall - state.wall;
        state.clock += has(Guard.LIMITED_STEPS) ? Math.max(0, Math.min(step, maxStep)) : step;
        state.wall = wall;
        boolean isEmpty = state.epoch == 0;
        boolean isOther = !state.server.equals(server) && has(Guard.SERVER_IDENTITY);
        boolean isBehind =
                seen.compareTo(new LedgerVersion(state.epoch, state.version)) > 0 && has(Guard.SEEN_VERSIONS);
        state.server = server;
        if (isEmpty) {
            state.clock = 1;
            // Larger than the tokens of a gateway alone, which are microseconds of its clock.
            state.epoch = (wall * 1000) >> FENCE_BITS;
            lost(state, seen.epoch());
        } else if (isOther || isBehind) {
            lost(state, seen.epoch());
        }
        expire(state);
    }

    private void lost(LedgerState state, long epochSeen) {
        state.epoch = Math.max(state.epoch, epochSeen) + 1;
        if (has(Guard.RECOVERY)) {
            state.recoveringUntil = state.clock + recovery;
        }
        state.nodes.replaceAll((name, node) -> node.hasEnded() ? node : node.expiring(state.clock + ttl));
        state.leases.replaceAll(
                (id, lease) -> lease.expiring(Math.max(lease.expires(), state.clock + lease.ttl() + failover)));
    }

    private void expire(LedgerState state) {
        Map<String, Node> nodes = new HashMap<>(state.nodes);
        nodes.forEach((name, node) -> {
            if (node.expires() <= state.clock && node.hasEnded()) {
                state.nodes.remove(name);
            } else if (node.expires() <= state.clock) {
                end(state, name, node);
            }
        });
        Map<String, Lease> leases = new HashMap<>(state.leases);
        leases.forEach((id, lease) -> {
            if (lease.expires() <= state.clock) {
                end(state, id);
            }
        });
        state.endedLeases.values().removeIf(until -> until <= state.clock);
    }

    private void end(LedgerState state, String name, Node node) {
        state.nodes.put(name, node.ended(state.clock + remembered));
        state.demands.remove(name);
    }

    private void end(LedgerState state, String id) {
        state.leases.remove(id);
        state.endedLeases.put(id, state.clock + remembered);
    }

    /** What the node must have had: what it keeps, and what it moves to leases that are not recorded yet. */
    private int kept(LedgerState state, Heartbeat beat) {
        return beat.kept()
                + beat.leases().stream()
                        .filter(lease -> lease.isNew() && isUnknown(state, lease))
                        .mapToInt(LeaseClaim::permits)
                        .sum();
    }

    private boolean isUnknown(LedgerState state, LeaseClaim lease) {
        return !(state.leases.containsKey(lease.id()) && has(Guard.LEASE_ONCE))
                && !(state.endedLeases.containsKey(lease.id()) && has(Guard.ENDED_LEASES));
    }

    private Map<String, Long> record(LedgerState state, Heartbeat beat) {
        Map<String, Long> tokens = new HashMap<>();
        for (LeaseClaim claim : beat.leases()) {
            if (isUnknown(state, claim) && (claim.isNew() || state.isRecovering())) {
                long token = claim.isNew() ? (state.epoch << FENCE_BITS) + ++state.fence : claim.token();
                state.leases.put(
                        claim.id(),
                        new Lease(claim.permits(), state.clock + claim.ttlMillis(), claim.ttlMillis(), token));
            }
            Lease lease = state.leases.get(claim.id());
            if (lease != null) {
                // Its time begins anew: the node counts from this heartbeat, as it was not answered before.
                state.leases.put(claim.id(), lease.expiring(Math.max(lease.expires(), state.clock + lease.ttl())));
                tokens.put(claim.id(), lease.token());
            }
        }
        return tokens;
    }

    private void grow(LedgerState state, Heartbeat beat) {
        Node node = state.nodes.get(beat.node());
        if (state.isRecovering() || node == null || node.hasEnded()) {
            return;
        }
        int growth = Math.min(beat.wanted() - node.slice(), limit(state) - state.used());
        if (growth > 0) {
            state.nodes.put(
                    beat.node(),
                    new Node(
                            node.slice() + growth,
                            node.sequence(),
                            node.expires(),
                            node.limit(),
                            node.hasAsserted(),
                            false));
        }
    }

    /** The least of the sizes in the policies of the live nodes. */
    private static int limit(LedgerState state) {
        return state.nodes.values().stream()
                .filter(node -> !node.hasEnded())
                .mapToInt(Node::limit)
                .min()
                .orElse(0);
    }

    private SliceAnswer answer(
            LedgerState state, Heartbeat beat, Outcome outcome, boolean hasRoom, Map<String, Long> tokens) {
        Node node = state.nodes.get(beat.node());
        int slice = outcome == Outcome.RECORDED && node != null ? node.slice() : 0;
        return new SliceAnswer(
                outcome,
                beat.sequence(),
                new LedgerVersion(state.epoch, state.version),
                slice,
                state.isRecovering(),
                hasRoom,
                tokens,
                outcome == Outcome.RECORDED ? state.demands : Map.of());
    }
}

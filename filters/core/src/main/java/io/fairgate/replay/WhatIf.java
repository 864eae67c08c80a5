package io.fairgate.replay;

import io.fairgate.permit.PoolSettings;
import io.fairgate.replay.Clients.Behaviour;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Compares what tenants got of a pool with what they would have got under other settings. The package description says how. */
public final class WhatIf {

    /** Requests in one replay at most: some seconds of work. */
    public static final long MOST_REQUESTS = 2_000_000;

    /** What decides who gets the permits of a pool. */
    public record Rules(PoolSettings pool, TenantShares shares) {}

    /**
     * One tenant in the comparison.
     *
     * @param clients of those classes of its requests that are not clear, if there is one; otherwise whether its clients wait for answers
     *     in any class
     * @param recorded what it got
     * @param inForce what it gets in a replay under the rules in force: it tells how far a replay can be believed
     * @param candidate what it gets in a replay under the other rules
     * @param otherwise the same if all clients that are unclear do the other thing; null when no tenant has any. What the tenant would get
     *     should be between the two
     */
    public record Comparison(
            TenantId tenant,
            ClientKind clients,
            TenantUse recorded,
            TenantUse inForce,
            TenantUse candidate,
            @Nullable TenantUse otherwise) {}

    private WhatIf() {}

    /**
     * Replays a recording, two or three times. Takes some microseconds of the calling thread for each request.
     *
     * @throws TooManyRequestsException when a replay would have more than {@value #MOST_REQUESTS} requests
     * @throws IllegalArgumentException when the tenants reserve more permits than the pool has
     */
    public static List<Comparison> compare(Recorded recorded, Rules inForce, Rules candidate) {
        List<Behaviour> behaviours =
                new Clients(recorded, inForce.pool().maxWait().toNanos()).behaviours();
        Replays replays = new Replays(recorded, inForce.pool().maxHold().toNanos());
        List<Session> likely = all(behaviours, Behaviour::likely);
        Map<TenantId, TenantUse> before = recorded.uses();
        Map<TenantId, TenantUse> again = replays.run(likely, inForce);
        Map<TenantId, TenantUse> after = replays.run(likely, candidate);
        Map<TenantId, TenantUse> otherwise = behaviours.stream().anyMatch(one -> one.kind() == ClientKind.UNCLEAR)
                ? replays.run(all(behaviours, Behaviour::otherwise), candidate)
                : Map.of();
        Map<TenantId, ClientKind> kinds = new HashMap<>();
        behaviours.forEach(one -> kinds.merge(one.tenant(), one.kind(), WhatIf::both));
        Set<TenantId> tenants = new HashSet<>(before.keySet());
        tenants.addAll(kinds.keySet());
        return tenants.stream()
                .map(tenant -> new Comparison(
                        tenant,
                        kinds.getOrDefault(tenant, ClientKind.COME_ANYWAY),
                        before.getOrDefault(tenant, Tally.NOTHING),
                        again.getOrDefault(tenant, Tally.NOTHING),
                        after.getOrDefault(tenant, Tally.NOTHING),
                        otherwise.isEmpty() ? null : otherwise.getOrDefault(tenant, Tally.NOTHING)))
                .toList();
    }

    private static ClientKind both(ClientKind one, ClientKind other) {
        return one == ClientKind.UNCLEAR || other == ClientKind.UNCLEAR
                ? ClientKind.UNCLEAR
                : one == other ? one : ClientKind.WAIT_FOR_ANSWERS;
    }

    private static List<Session> all(List<Behaviour> behaviours, Function<Behaviour, List<Session>> which) {
        return behaviours.stream().flatMap(one -> which.apply(one).stream()).toList();
    }

    private record Replays(Recorded recorded, long maxHoldThen) {

        Map<TenantId, TenantUse> run(List<Session> sessions, Rules rules) {
            return Replay.run(recorded, sessions, rules, maxHoldThen);
        }
    }
}

package io.fairgate.replay;

import io.fairgate.permit.PoolSettings;
import io.fairgate.replay.Clients.Behaviour;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Compares what tenants got of a pool with what they would have got under other settings. The package description says how. */
public final class WhatIf {

    /** Requests in one replay at most: some seconds of work. */
    public static final long MOST_REQUESTS = 2_000_000;

    private static final TenantUse NOTHING = Tally.NOTHING;

    /** What decides who gets the permits of a pool. */
    public record Rules(PoolSettings pool, TenantShares shares) {}

    /**
     * One tenant in the comparison.
     *
     * @param followsAnswers whether its clients send their next request when they have the answer to the one before
     * @param recorded what it got
     * @param inForce what it gets in a replay under the rules in force: it tells how far a replay can be believed
     * @param candidate what it gets in a replay under the other rules
     */
    public record Comparison(
            TenantId tenant, boolean followsAnswers, TenantUse recorded, TenantUse inForce, TenantUse candidate) {}

    private WhatIf() {}

    /**
     * Replays a recording twice. Takes some microseconds of the calling thread for each request.
     *
     * @throws TooManyRequestsException when a replay would have more than {@value #MOST_REQUESTS} requests
     * @throws IllegalArgumentException when the tenants reserve more permits than the pool has
     */
    public static List<Comparison> compare(Recorded recorded, Rules inForce, Rules candidate) {
        Collection<Behaviour> behaviours =
                new Clients(recorded, inForce.pool().maxWait().toNanos()).behaviours();
        List<Session> sessions =
                behaviours.stream().flatMap(one -> one.sessions().stream()).toList();
        Set<TenantId> following = behaviours.stream()
                .filter(Behaviour::followAnswers)
                .map(Behaviour::tenant)
                .collect(Collectors.toSet());
        Map<TenantId, TenantUse> before = Tally.of(recorded);
        Map<TenantId, TenantUse> again = replay(recorded, sessions, inForce, inForce);
        Map<TenantId, TenantUse> after = replay(recorded, sessions, candidate, inForce);
        Set<TenantId> tenants = new HashSet<>(before.keySet());
        tenants.addAll(after.keySet());
        return tenants.stream()
                .map(tenant -> new Comparison(
                        tenant,
                        following.contains(tenant),
                        before.getOrDefault(tenant, NOTHING),
                        again.getOrDefault(tenant, NOTHING),
                        after.getOrDefault(tenant, NOTHING)))
                .toList();
    }

    private static Map<TenantId, TenantUse> replay(Recorded recorded, List<Session> sessions, Rules rules, Rules then) {
        return Replay.run(
                recorded,
                sessions,
                rules.pool(),
                rules.shares(),
                then.pool().maxHold().toNanos(),
                MOST_REQUESTS);
    }
}

package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * Decides which tenants have time series of their own; all others are counted together as {@link #OTHER}.
 *
 * <p><b>Shown</b> are the members that the policy names in {@code metrics.tenants}, and the K most active of the
 * others. While fewer than K of the others are shown, a member is shown from its first request on. After that
 * {@link #review} decides by permit-time, of which older parts count for less: a tenant must be clearly more active
 * than the least active one to take its place.
 *
 * <p><b>Kept</b> are up to K tenants that were shown before: they are counted as {@link #OTHER}, and their own counters
 * stand still, and go on from there when they are shown again, so that no series ever decreases. After an hour, or when
 * the policy has stopped naming tenants, a kept tenant makes room for another one that needs it, and its series ends; a
 * later one begins at zero.
 *
 * <p>Each event is counted in one series: that of its tenant at that moment, or {@link #OTHER}. So no event is lost or
 * counted twice when tenants change between them (docs/decisions/0032-series-of-the-most-active-tenants.md).
 */
final class TenantSeries {

    /** The tag of all tenants without a series of their own. */
    static final String OTHER = "_other";

    private static final long KEPT_AT_LEAST = Duration.ofHours(1).toNanos();
    /** Longer than Prometheus looks back for a series that has ended. */
    private static final long ENDED_FOR = Duration.ofMinutes(10).toNanos();
    /** How much more active than the least active shown tenant another must be, so that they do not alternate. */
    private static final double CLEARLY = 1.5;

    private final int most;
    private final Scheduler time;
    private final TenantActivity activity;
    private final Set<TenantId> shown = ConcurrentHashMap.newKeySet();

    private volatile Policy policy;
    private volatile Runnable whenChanged = () -> {};
    /** False once a member has been counted as {@link #OTHER} because there was no room for it. */
    private volatile boolean takesAll = true;
    /** Odd while the set is changing; see {@link #version}. */
    private volatile int version;

    // Guarded by this.
    /** Since when tenants are kept, the oldest first. */
    private final Map<TenantId, Long> kept = new LinkedHashMap<>();
    /** When the series of tenants have ended. */
    private final Map<TenantId, Long> ended = new HashMap<>();

    /** @param most how many tenants are shown beside those that the policy names, at least 0 */
    TenantSeries(Policy policy, int most, Scheduler time) {
        this.policy = policy;
        this.most = most;
        this.time = time;
        this.activity = new TenantActivity(policy.members().keySet(), now());
        commit(policy);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** Sets the action to run when a tenant is shown outside of a review; it must be quick. */
    void whenChanged(Runnable action) {
        whenChanged = action;
    }

    // ---- as requests come ----

    /** The tag for an event of the tenant that happens now; the tenant may become shown by it. */
    String tag(TenantId tenant) {
        if (shown.contains(tenant)) {
            return tenant.value();
        }
        return takesAll && policy.members().containsKey(tenant) ? take(tenant) : OTHER;
    }

    private synchronized String take(TenantId tenant) {
        if (takesAll && !shown.contains(tenant)) {
            takesAll = shownUnnamed().size() < most;
            if (takesAll && policy.members().containsKey(tenant)) {
                shown.add(tenant);
                whenChanged.run();
            }
        }
        return tagNow(tenant);
    }

    private Set<TenantId> shownUnnamed() {
        Set<TenantId> unnamed = new HashSet<>(shown);
        unnamed.removeAll(policy.tenantsInMetrics());
        return unnamed;
    }

    /** Adds permit-time of the tenant: permits times the seconds for which they were held. */
    void used(TenantId tenant, double seconds) {
        activity.add(tenant, seconds);
    }

    // ---- what is read ----

    /** The tag that the tenant has now. Unlike {@link #tag}, this never makes a tenant shown. */
    String tagNow(TenantId tenant) {
        return shown.contains(tenant) ? tenant.value() : OTHER;
    }

    /** The tenants that are shown: events count in their own series. */
    Set<TenantId> shown() {
        return Set.copyOf(shown);
    }

    /** The tenants that are kept: their own series stand still. */
    synchronized Set<TenantId> kept() {
        return Set.copyOf(kept.keySet());
    }

    /** No tenant changed its tag during a read if this is even, and the same before and after the read. */
    int version() {
        return version;
    }

    // ---- changes ----

    /**
     * Changes to a new policy. Removed members lose their series. The members that the policy names are shown at once
     * if no member has been counted as {@link #OTHER} yet, otherwise from the next review on.
     */
    synchronized void commit(Policy next) {
        policy = next;
        Set<TenantId> members = next.members().keySet();
        activity.setMembers(members);
        shown.retainAll(members);
        kept.keySet().retainAll(members);
        ended.keySet().retainAll(members);
        if (takesAll) {
            // None of their events has been counted as OTHER. Where there is room for all members, all have their
            // series before their first event.
            Set<TenantId> named = next.tenantsInMetrics();
            shown.addAll(members.size() - named.size() <= most ? members : named);
        }
    }

    /** Another tag for the events of a tenant from now on; null when the series of the tag before ends. */
    record Move(TenantId tenant, String before, @Nullable String now) {}

    /**
     * @param held the permit-time so far of current holds, in seconds, by tenant and pool
     * @param moves gets each change while the {@link #version} is odd
     */
    synchronized void review(Map<TenantId, Map<String, Double>> held, Consumer<Move> moves) {
        version++;
        try {
            long now = now();
            ended.values().removeIf(since -> now - since > ENDED_FOR);
            Map<TenantId, Double> active = activity.measure(now);
            held.forEach(
                    (tenant, byPool) -> byPool.values().forEach(seconds -> active.merge(tenant, seconds, Double::sum)));
            review(active, now, moves);
        } finally {
            version++;
        }
    }

    private void review(Map<TenantId, Double> active, long now, Consumer<Move> moves) {
        policy.tenantsInMetrics().stream()
                .filter(tenant -> !shown.contains(tenant))
                .forEach(tenant -> show(tenant, moves));
        Comparator<TenantId> byActivity = Comparator.comparingDouble(tenant -> active.getOrDefault(tenant, 0.0));
        PriorityQueue<TenantId> unnamed = new PriorityQueue<>(byActivity);
        unnamed.addAll(shownUnnamed());
        while (unnamed.size() > most) {
            // The policy no longer names some of them.
            keep(unnamed.remove(), now, moves);
        }
        while (kept.size() > most) {
            endOldest(now, moves);
        }
        List<TenantId> others = active.keySet().stream()
                .filter(tenant -> policy.members().containsKey(tenant))
                .filter(tenant -> !shown.contains(tenant) && !ended.containsKey(tenant))
                .sorted(byActivity.reversed())
                .toList();
        for (TenantId other : others) {
            boolean hasRoom = unnamed.size() < most;
            if (!hasRoom && !isClearlyMoreActive(other, unnamed.peek(), active)) {
                return;
            } else if (hasRoom || makeRoomToKeep(other, now, moves)) {
                if (!hasRoom) {
                    keep(unnamed.remove(), now, moves);
                }
                show(other, moves);
                unnamed.add(other);
            }
        }
    }

    private static boolean isClearlyMoreActive(TenantId other, @Nullable TenantId least, Map<TenantId, Double> active) {
        return least != null && active.getOrDefault(other, 0.0) > CLEARLY * active.getOrDefault(least, 0.0);
    }

    /** Makes room to keep the tenant that this one replaces; false when that is not possible. */
    private boolean makeRoomToKeep(TenantId other, long now, Consumer<Move> moves) {
        if (kept.containsKey(other) || kept.size() < most) {
            return true;
        }
        boolean makesRoom = now - kept.values().iterator().next() >= KEPT_AT_LEAST;
        if (makesRoom) {
            endOldest(now, moves);
        }
        return makesRoom;
    }

    private void show(TenantId tenant, Consumer<Move> moves) {
        kept.remove(tenant);
        shown.add(tenant);
        moves.accept(new Move(tenant, OTHER, tenant.value()));
    }

    private void keep(TenantId tenant, long now, Consumer<Move> moves) {
        takesAll = false;
        kept.put(tenant, now);
        shown.remove(tenant);
        moves.accept(new Move(tenant, tenant.value(), OTHER));
    }

    private void endOldest(long now, Consumer<Move> moves) {
        TenantId oldest = kept.keySet().iterator().next();
        kept.remove(oldest);
        ended.put(oldest, now);
        moves.accept(new Move(oldest, oldest.value(), null));
    }
}

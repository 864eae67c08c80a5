package io.fairgate.fairness;

import io.fairgate.fairness.QueuedRequest.Place;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Occupancy Fair Queueing over one pool. The package description explains the algorithm and its terms.
 *
 * <p>A state machine without threads, clock or signals. It has one caller at a time, and every call passes the time, in
 * nanoseconds of a clock that does not go back (if it does, time stands still until the clock has caught up).
 * {@link #enqueue}, {@link #cancel}, {@link #release}, {@link #restore}, {@link #reconfigure}, {@link #limit} and {@link #weigh}
 * change the state; only {@link #grant} grants permits, and must be called after them.
 *
 * <p>Accounts are whole numbers, so that their sums are exact and do not depend on the order of the additions
 * (docs/decisions/0011-whole-accounts-and-a-heap.md). Finding the next request takes time in proportion to the logarithm of
 * the number of backlogged tenants ({@link HeapRunQueue}).
 *
 * <p>This class moves requests through their states. {@link Hierarchy} holds the nodes of the hierarchy, {@link
 * HierarchyWalks} updates the nodes above a request, {@link NextRequest} selects the next request, and {@link
 * LargeRequests} collects permits for a request that needs more than are free.
 */
public final class FairScheduler {

    final HierarchyWalks walks;
    private final Hierarchy hierarchy;
    private final NextRequest next;

    /** With a gain that follows the holds. */
    public FairScheduler(int permits, TenantShares shares, FairnessSettings settings, long now) {
        this(permits, shares, settings, Duration.ZERO, now);
    }

    /**
     * @param gain a fixed gain of the key, or zero for a gain that follows the holds
     * @throws IllegalArgumentException when the gain is negative
     */
    public FairScheduler(int permits, TenantShares shares, FairnessSettings settings, Duration gain, long now) {
        this(permits, shares, settings, gain, now, HeapRunQueue::new);
    }

    FairScheduler(
            int permits,
            TenantShares shares,
            FairnessSettings settings,
            Duration gain,
            long now,
            Supplier<RunQueue> runQueues) {
        if (gain.isNegative()) {
            throw new IllegalArgumentException("gain: %s (expected: 0 or more)".formatted(gain));
        }
        LongFunction<SchedulingGroup> newGroup =
                time -> new SchedulingGroup(runQueues.get(), new Gain(gain.toNanos(), time), time);
        walks = new HierarchyWalks(newGroup.apply(now), permits, now);
        hierarchy = new Hierarchy(walks, newGroup);
        next = new NextRequest(walks);
        reconfigure(permits, shares, settings, now);
    }

    // ---- requests ----

    /**
     * Whether a request of the tenant for {@code n} permits could be granted if no permit were in flight. Permits that are
     * reserved for other tenants do not count as free.
     */
    public boolean canEverFit(TenantId tenant, int n) {
        SchedulingNode known = hierarchy.tenants.get(tenant);
        ShareSettings settings = known == null ? hierarchy.shares.of(tenant) : known.settings;
        return n <= hierarchy.capAlone(settings)
                && (known == null ? n + walks.top.reserved <= walks.permits : walks.fitsWhenAllElseIsFree(known, n));
    }

    /**
     * Like {@link #canEverFit(TenantId, int)}, for {@code n} permits in addition to those that the tenant has in flight.
     */
    public boolean canEverFitBeside(TenantId tenant, int n) {
        SchedulingNode known = hierarchy.tenants.get(tenant);
        return canEverFit(tenant, n + (known == null ? 0 : known.inFlight));
    }

    /** Like {@link #canEverFit(TenantId, int)}, and also within the cap of the request's class. */
    public boolean canEverFit(QueuedRequest request) {
        return request.permits()
                        <= hierarchy.shares.ofClass(request.requestClass()).maxInFlight()
                && canEverFit(request.tenant(), request.permits());
    }

    /** Appends the request to the queue of its tenant, or of its class within the tenant. */
    public void enqueue(QueuedRequest request, long now) {
        requirePlace(request, Place.OUTSIDE);
        requireNothingInSlots();
        walks.tick(now);
        SchedulingNode leaf = hierarchy.leafOf(request);
        walks.tickUpFrom(leaf);
        request.leaf = leaf;
        request.place = Place.WAITING;
        request.queuedAt = walks.now;
        leaf.queue.append(request);
        walks.changeWaiting(leaf, 1);
        updateRunQueues(leaf);
    }

    /** Takes a waiting request out of its queue. Takes logarithmic time for each level of the hierarchy. */
    public void cancel(QueuedRequest request, long now) {
        requirePlace(request, Place.WAITING);
        walks.tick(now);
        updateRunQueues(takeOut(request, Place.GONE));
    }

    /** Takes back the permits of a request. */
    public void release(QueuedRequest request, long now) {
        requirePlace(request, Place.HOLDING);
        walks.tick(now);
        SchedulingNode leaf = request.leaf();
        walks.tickUpFrom(leaf);
        request.place = Place.GONE;
        walks.changeInFlight(
                request, -request.permits(), (node, released) -> node.siblings().observeHold(released));
        walks.boundLags(leaf);
        if (!walks.large.isIdle()) {
            walks.large.released(request);
        }
        updateRunQueues(leaf);
    }

    /**
     * Grants all permits that can be granted, in the order of the keys. {@code granted} must not call the scheduler.
     */
    public void grant(long now, Consumer<QueuedRequest> granted) {
        walks.tick(now);
        walks.adjustGains();
        hierarchy.followActive();
        if (!walks.large.isIdle()) {
            walks.large.endWhatTakesTooLong();
        }
        for (QueuedRequest request = next(); request != null; request = next()) {
            SchedulingNode leaf = request.leaf();
            if (request.accept()) {
                give(request, leaf);
                granted.accept(request);
            } else {
                takeOut(request, Place.GONE);
            }
            updateRunQueues(leaf);
        }
        next.collectWhereNothingFits();
        walks.runOrStopClocks();
        if (!walks.large.isIdle()) {
            walks.large.charge();
        }
        hierarchy.sweepWhenMany();
    }

    /**
     * The request to refuse when, after an arrival, more requests wait than {@code max-waiting} of the tenant, of the
     * class or of a group allows; null when none does. It is the newest request of the longest queue below the node that
     * is over its bound.
     */
    public @Nullable QueuedRequest overOwnBound(QueuedRequest arrived) {
        for (SchedulingNode node = arrived.leaf(); !node.isPool(); node = node.parent()) {
            if (node.waiting > node.settings.maxWaiting()) {
                return newestOfLongest(node);
            }
        }
        return null;
    }

    /**
     * The request to refuse when more than {@code maxWaiting} requests wait in the pool; null when they do not. It is the
     * newest request of the tenant with the longest queue per weight: a tenant that floods the queue loses its own
     * requests, and a tenant with a short queue always finds a place. In a hierarchy the longest queue is chosen at each
     * node, from the pool down.
     */
    public @Nullable QueuedRequest overPoolBound(int maxWaiting) {
        return waiting() <= maxWaiting ? null : newestOfLongest(walks.pool);
    }

    /** Goes down to a leaf, at each node to the child with the longest queue per weight. */
    private static @Nullable QueuedRequest newestOfLongest(SchedulingNode node) {
        SchedulingNode longest = node;
        while (longest != null && longest.children != null) {
            longest = longest.children.present.longestQueue();
        }
        return longest == null ? null : longest.queue.newest();
    }

    /** Whether a waiting request waits for the cap of its tenant, of its class or of a group, and not for the pool. */
    public boolean waitsForOwnCap(QueuedRequest request) {
        SchedulingNode lacking = walks.lacking(request);
        return lacking != null && !lacking.isPool();
    }

    /**
     * The time of the next end of a collection, in nanoseconds of the clock, or {@link Long#MAX_VALUE}. {@link #grant}
     * must be called then even if nothing else has changed. Each call may change the time.
     */
    public long nextEndOfCollection() {
        return walks.large.isIdle() ? LargeRequests.NEVER : walks.large.nextEnd();
    }

    // ---- the fast path: permits that are taken without a decision of the scheduler, while no request waits ----

    /**
     * Moves free permits to the slots of the fast path, which grants them one by one. The scheduler counts them in no
     * account until {@link #moveFromSlots} or {@link #countTaken}. To be called only while no request waits; while permits are in
     * slots, {@code enqueue}, {@code restore}, {@code reconfigure} and {@code limit} throw {@link IllegalStateException}.
     *
     * @return how many permits were moved, at most {@code most}
     */
    public int moveToSlots(int most) {
        int moved = (int) Math.max(0, Math.min(most, walks.available()));
        walks.inSlots += moved;
        return moved;
    }

    /** Moves permits back that the fast path has not granted. */
    public void moveFromSlots(int permits) {
        walks.inSlots -= permits;
    }

    /** Counts a request that has taken permits from slots, as if they had been granted at the time {@code since}. */
    public void countTaken(QueuedRequest request, long since, long now) {
        requirePlace(request, Place.OUTSIDE);
        walks.tick(now);
        SchedulingNode leaf = hierarchy.leafOf(request);
        walks.tickUpFrom(leaf);
        walks.inSlots -= request.permits();
        request.leaf = leaf;
        request.place = Place.HOLDING;
        request.grantedAt = since;
        request.grant = ++walks.grants;
        walks.changeInFlight(request, request.permits(), (node, held) -> node.lastGrant = held.grant);
    }

    /**
     * Counts permits that a request holds already, also when the pool has fewer free: then, as after a shrink, nothing is
     * granted until enough permits are released. No permit may be in a slot.
     */
    public void restore(QueuedRequest request, long now) {
        requireNothingInSlots();
        walks.inSlots += request.permits();
        countTaken(request, now, now);
        SchedulingNode leaf = request.leaf();
        walks.boundLags(leaf);
        updateRunQueues(leaf);
    }

    // ---- the pool ----

    /**
     * Changes size, shares and settings at once, while permits are held and requests wait. No permit is taken back: after
     * a shrink nothing is granted until enough permits are released. How far each node is ahead or behind stays. When
     * this throws, nothing has changed.
     *
     * @throws IllegalArgumentException when {@code permits} is below 1, or the calculator returns less than 1
     * @throws IllegalStateException while permits are in slots
     */
    public void reconfigure(int permits, TenantShares shares, FairnessSettings settings, long now) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
        requireNothingInSlots();
        int[] caps = shares.calculatedCaps(permits);
        walks.tick(now);
        walks.permits = permits;
        walks.maxCollect = settings.maxCollect().toNanos();
        hierarchy.change(shares, caps, settings.memory().toNanos());
    }

    /**
     * Bounds the permits in flight, for a pool that shares its permits with others: here only some of them may be granted at
     * the moment. {@link #permits} stays the size by which is decided what can ever be granted. No permit is taken back. Permits
     * that are reserved are kept within the bound, so nothing is granted below their sum. A request that is larger than the bound
     * waits for a larger one; nothing is collected for it meanwhile, and other requests are granted.
     *
     * @param most 0 or more; {@link Integer#MAX_VALUE} for no bound but the size
     * @param leased permits in flight by which the caller will lower the bound when they are released: no request can have them
     * @throws IllegalArgumentException when {@code most} or {@code leased} is negative
     * @throws IllegalStateException while permits are in slots
     */
    public void limit(int most, int leased, long now) {
        requireNotNegative("limit", most);
        requireNotNegative("leased", leased);
        requireNothingInSlots();
        walks.tick(now);
        walks.limit = most;
        walks.leased = leased;
        walks.large.followLimit();
    }

    /**
     * Has only a part of some weights and guarantees count, for a pool that shares its permits with others, where the rest counts.
     * Parts of guarantees are rounded down to whole permits. How far each tenant is ahead or behind, in permit-time, stays. Takes
     * time in proportion to the parts.
     *
     * @param tenants more than 0 and at most 1 for each; the whole weights and guarantees of all others count
     * @param groups the same for groups
     * @throws IllegalArgumentException when a part is another number
     */
    public void weigh(Map<TenantId, Double> tenants, Map<String, Double> groups, long now) {
        tenants.forEach(FairScheduler::requirePart);
        groups.forEach(FairScheduler::requirePart);
        walks.tick(now);
        hierarchy.weigh(tenants, groups);
    }

    public int permits() {
        return walks.permits;
    }

    public int inFlight() {
        return walks.pool.inFlight;
    }

    public int waiting() {
        return walks.pool.waiting;
    }

    /** Like {@link #present}, also with the tenants and groups that are idle and owe nothing. */
    public PoolStatus status(long now) {
        walks.tick(now);
        return new StatusReport(walks, hierarchy.entitlements, group -> List.copyOf(group.all)).make();
    }

    /** The state of the tenants and groups that hold, wait or owe. Takes n log n time for n of them. */
    public PoolStatus present(long now) {
        walks.tick(now);
        return report().make();
    }

    /** Whether requests wait for permits of the pool, and not only for the caps of their tenants, classes and groups. */
    public boolean isShort() {
        return !walks.top.runQueue.isEmpty() || !walks.top.collected.aside.isEmpty();
    }

    public PoolTotals totals() {
        return new PoolTotals(walks.permits, walks.pool.inFlight, walks.pool.waiting);
    }

    /** The state of one tenant. Takes no longer than {@link #present}, and constant time for a tenant that is idle. */
    public TenantStanding standing(TenantId tenant, long now) {
        SchedulingNode node = hierarchy.tenants.get(tenant);
        if (node == null || node.isIdle()) {
            return new TenantStanding(
                    totals(), 0, 0, 0, hierarchy.shares.of(tenant).weight());
        }
        walks.tick(now);
        return new TenantStanding(totals(), node.inFlight, node.waiting, report().share(node), node.weight());
    }

    /** What requests hold and wait for, without the permits in slots. Takes n log n time for n tenants that hold, wait or owe. */
    public AskedPermits asked(long now) {
        walks.tick(now);
        return new AskedReport(walks).make(report().asked);
    }

    /** Whether so many permits could be free at once within the {@linkplain #limit limit}. */
    public boolean isWithinLimit(int permits) {
        return permits <= walks.mostAtOnce();
    }

    private StatusReport report() {
        return new StatusReport(walks, hierarchy.entitlements, group -> group.present.thatCount());
    }

    private @Nullable QueuedRequest next() {
        QueuedRequest request = next.find();
        return request == null && !walks.large.isIdle() && walks.large.bringBackOne() ? next.find() : request;
    }

    private void give(QueuedRequest request, SchedulingNode leaf) {
        takeOut(request, Place.HOLDING);
        request.grantedAt = walks.now;
        request.grant = ++walks.grants;
        walks.changeInFlight(request, request.permits(), FairScheduler::noteGrant);
        if (walks.available() < 0) {
            throw new IllegalStateException("granted %d permits more than there are".formatted(-walks.available()));
        }
        walks.boundLags(leaf);
    }

    /** Notes the grant at a node that does not count it yet. */
    private static void noteGrant(SchedulingNode node, QueuedRequest granted) {
        CollectedPermits collected = node.siblings().collected;
        boolean isPromised = node.isPromised(granted.permits());
        boolean isFree = node.costOf(granted.permits()) == 0;
        node.lastGrant = granted.grant;
        node.isServedFirst = isPromised || isFree;
        if (collected.request != null && isPromised && !isFree) {
            node.countPass(collected.number, granted.permits());
        }
    }

    private SchedulingNode takeOut(QueuedRequest request, Place to) {
        SchedulingNode leaf = request.leaf();
        walks.tickUpFrom(leaf);
        if (!walks.large.isIdle()) {
            walks.large.left(request, to == Place.HOLDING);
        }
        leaf.queue.remove(request);
        walks.changeWaiting(leaf, -1);
        request.place = to;
        return leaf;
    }

    private void updateRunQueues(SchedulingNode leaf) {
        walks.updateRunQueues(leaf);
        hierarchy.forgetIfIdle(leaf);
    }

    private static void requireNotNegative(String name, int permits) {
        if (permits < 0) {
            throw new IllegalArgumentException("%s: %d (expected: >= 0)".formatted(name, permits));
        }
    }

    private static void requirePart(Object name, double part) {
        if (!(part > 0 && part <= 1)) {
            throw new IllegalArgumentException("part of %s: %s (expected: > 0 and <= 1)".formatted(name, part));
        }
    }

    private void requireNothingInSlots() {
        if (walks.inSlots != 0) {
            throw new IllegalStateException("%d permits are in slots (expected: 0)".formatted(walks.inSlots));
        }
    }

    private static void requirePlace(QueuedRequest request, Place expected) {
        if (request.place != expected) {
            throw new IllegalStateException("request is %s (expected: %s)".formatted(request.place, expected));
        }
    }
}

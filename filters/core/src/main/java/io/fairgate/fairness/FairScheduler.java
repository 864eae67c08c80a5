package io.fairgate.fairness;

import io.fairgate.fairness.QueuedRequest.Place;
import io.fairgate.shares.CalculatedCaps;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Occupancy Fair Queueing over one pool. The package description explains the algorithm and its terms.
 *
 * <p>A state machine without threads, clock or signals. It has one caller at a time, and every call passes the time, in
 * nanoseconds of a clock that does not go back (if it does, time stands still until the clock has caught up).
 * {@link #enqueue}, {@link #cancel}, {@link #release}, {@link #resize} and {@link #reconfigure} change the state; only
 * {@link #grant} grants permits, and must be called after them.
 *
 * <p>Accounts are whole numbers, so that their sums are exact and do not depend on the order of the additions
 * (docs/decisions/0011-whole-accounts-and-a-heap.md). Finding the next claim takes time in proportion to the logarithm of
 * the number of backlogged tenants ({@link HeapBacklog}).
 *
 * <p>This class moves claims through their states. {@link ShareTree} holds the nodes of the hierarchy, {@link SharePath}
 * updates the nodes above a claim, {@link NextClaim} selects the next claim, and {@link LargeClaims} collects permits for a
 * claim that needs more than are free.
 */
public final class FairScheduler {

    private final SharePath path;
    private final ShareTree tree;
    private final NextClaim next;
    private FairnessSettings settings = FairnessSettings.USUAL;

    /** With the default settings, and a gain that follows the holds. */
    public FairScheduler(int permits, TenantShares shares, long now) {
        this(permits, shares, FairnessSettings.USUAL, now);
    }

    /** With a gain that follows the holds. */
    public FairScheduler(int permits, TenantShares shares, FairnessSettings settings, long now) {
        this(permits, shares, settings, Duration.ZERO, now);
    }

    /**
     * @param gain a fixed gain of the key, or zero for a gain that follows the holds
     * @throws IllegalArgumentException when the gain is negative
     */
    public FairScheduler(int permits, TenantShares shares, FairnessSettings settings, Duration gain, long now) {
        this(permits, shares, settings, gain, now, HeapBacklog::new);
    }

    FairScheduler(
            int permits,
            TenantShares shares,
            FairnessSettings settings,
            Duration gain,
            long now,
            Supplier<Backlog> backlogs) {
        if (gain.isNegative()) {
            throw new IllegalArgumentException("gain: %s (expected: 0 or more)".formatted(gain));
        }
        long memory = settings.memory().toNanos();
        Siblings top = new Siblings(backlogs.get(), new Gain(gain.toNanos(), now), memory, now);
        path = new SharePath(new Share(0, ShareSettings.EQUAL, true, top), top, permits, now);
        tree = new ShareTree(path, () -> {
            path.isFlat = false;
            return new Siblings(
                    backlogs.get(),
                    new Gain(gain.toNanos(), path.now()),
                    this.settings.memory().toNanos(),
                    path.now());
        });
        next = new NextClaim(path);
        reconfigure(permits, shares, settings, now);
    }

    // ---- claims ----

    /**
     * Whether a claim of the tenant for {@code n} permits could be granted if no permit were in flight. Permits that are
     * reserved for other tenants do not count as free.
     */
    public boolean canEverFit(TenantId tenant, int n) {
        Share known = tree.tenant(tenant);
        ShareSettings settings = known == null ? tree.shares().of(tenant) : known.settings;
        return n <= tree.capAlone(settings)
                && (known == null ? n + path.top.reserved <= path.permits : path.fitsWhenAllElseIsFree(known, n));
    }

    /** Like {@link #canEverFit(TenantId, int)}, for {@code n} permits in addition to those that the tenant has in flight. */
    public boolean canEverFitBeside(TenantId tenant, int n) {
        Share known = tree.tenant(tenant);
        return canEverFit(tenant, n + (known == null ? 0 : known.inFlight));
    }

    /** Like {@link #canEverFit(TenantId, int)}, and also within the cap of the claim's class. */
    public boolean canEverFit(QueuedRequest claim) {
        return claim.permits() <= tree.shares().ofClass(claim.requestClass()).maxInFlight()
                && canEverFit(claim.tenant(), claim.permits());
    }

    /** Appends the claim to the queue of its tenant, or of its class within the tenant. */
    public void enqueue(QueuedRequest claim, long now) {
        requirePlace(claim, Place.OUTSIDE);
        requireNothingLent();
        path.tick(now);
        Share leaf = tree.leafOf(claim);
        path.tickUpFrom(leaf);
        claim.share = leaf;
        claim.place = Place.WAITING;
        leaf.queue.append(claim);
        path.countArrival(leaf);
        settle(leaf);
    }

    /** Takes a waiting claim out of its queue. Takes logarithmic time for each level of the hierarchy. */
    public void cancel(QueuedRequest claim, long now) {
        requirePlace(claim, Place.WAITING);
        path.tick(now);
        settle(takeOut(claim, Place.GONE));
    }

    /** Takes back the permits of a claim. */
    public void release(QueuedRequest claim, long now) {
        requirePlace(claim, Place.HOLDING);
        path.tick(now);
        Share leaf = SharePath.leafOf(claim);
        path.tickUpFrom(leaf);
        path.observeHold(leaf, Math.max(0, path.now() - claim.grantedAt));
        claim.place = Place.GONE;
        path.countRelease(leaf, claim.permits(), claim.grantedAt);
        path.boundLags(leaf);
        if (!path.large.isIdle()) {
            path.large.released(claim, leaf);
        }
        settle(leaf);
    }

    /**
     * Grants all permits that can be granted, in the order of the keys. {@code granted} gets each granted claim and must not
     * call the scheduler.
     */
    public void grant(long now, Consumer<QueuedRequest> granted) {
        path.tick(now);
        path.adjustGains();
        tree.followActive();
        if (!path.large.isIdle()) {
            path.large.endWhatTakesTooLong();
        }
        for (QueuedRequest claim = next(); claim != null; claim = next()) {
            Share leaf = SharePath.leafOf(claim);
            if (claim.accept()) {
                give(claim, leaf);
                granted.accept(claim);
            } else {
                takeOut(claim, Place.GONE);
            }
            settle(leaf);
        }
        next.collectWhereNothingFits();
        path.runOrStopClocks();
        if (!path.large.isIdle()) {
            path.large.charge();
        }
        tree.sweepWhenMany();
    }

    /**
     * The claim to refuse when, after an arrival, more claims wait than {@code max-waiting} of the tenant, of the class or of a
     * group allows; null when none does. It is the newest claim of the longest queue below the node that is over its bound.
     */
    public @Nullable QueuedRequest overOwnBound(QueuedRequest arrived) {
        for (Share node = SharePath.leafOf(arrived); !node.isPool(); node = node.parent()) {
            if (node.waiting > node.settings.maxWaiting()) {
                return newestOfLongest(node);
            }
        }
        return null;
    }

    /**
     * The claim to refuse when more than {@code maxWaiting} claims wait in the pool; null when they do not. It is the newest
     * claim of the tenant with the longest queue per weight: a tenant that floods the queue loses its own claims, and a tenant
     * with a short queue always finds a place. In a hierarchy the longest queue is chosen at each node, from the pool down.
     */
    public @Nullable QueuedRequest overPoolBound(int maxWaiting) {
        return waiting() <= maxWaiting ? null : newestOfLongest(path.pool);
    }

    /** Goes down to a leaf, at each node to the child with the longest queue per weight. */
    private static @Nullable QueuedRequest newestOfLongest(Share node) {
        Share longest = node;
        while (longest != null && longest.below != null) {
            longest = longest.below.present.longestQueue();
        }
        return longest == null ? null : longest.queue.newest();
    }

    /** Whether a waiting claim waits for the cap of its tenant, of its class or of a group, and not for the pool. */
    public boolean waitsForOwnCap(QueuedRequest claim) {
        Share lacking = path.lacking(claim, SharePath.leafOf(claim));
        return lacking != null && !lacking.isPool();
    }

    /**
     * The time of the next end of a collection, in nanoseconds of the clock, or {@link Long#MAX_VALUE}. {@link #grant} must be
     * called then even if nothing else has changed. Each call may change the time.
     */
    public long nextEndOfCollection() {
        return path.large.isIdle() ? LargeClaims.NEVER : path.large.nextEnd();
    }

    // ---- the fast path: permits that are taken without a decision of the scheduler, while no claim waits ----

    /**
     * Lends free permits to the fast path, which grants them one by one. The scheduler does not count lent permits in any
     * account until {@link #takeBack} or {@link #adopt}. To be called only while no claim waits; while permits are lent,
     * {@code enqueue}, {@code restore} and {@code reconfigure} throw {@link IllegalStateException}.
     *
     * @return how many permits were lent, at most {@code most}
     */
    public int lend(int most) {
        int lending = (int) Math.max(0, Math.min(most, path.available()));
        path.lent += lending;
        return lending;
    }

    /** Takes back lent permits that the fast path has not granted. */
    public void takeBack(int permits) {
        path.lent -= permits;
    }

    /** Counts a claim that has taken lent permits, as if they had been granted at the time {@code since}. */
    public void adopt(QueuedRequest claim, long since, long now) {
        requirePlace(claim, Place.OUTSIDE);
        path.tick(now);
        Share leaf = tree.leafOf(claim);
        path.tickUpFrom(leaf);
        path.lent -= claim.permits();
        claim.share = leaf;
        claim.place = Place.HOLDING;
        claim.grantedAt = since;
        claim.grant = path.nextGrant();
        path.countHeld(leaf, claim.permits(), since, claim.grant);
    }

    /**
     * Counts permits that a claim holds already, also when the pool has fewer free: then, as after a shrink, nothing is
     * granted until enough permits are released. No permit may be lent.
     */
    public void restore(QueuedRequest claim, long now) {
        requireNothingLent();
        path.lent += claim.permits();
        adopt(claim, now, now);
        Share leaf = SharePath.leafOf(claim);
        path.boundLags(leaf);
        settle(leaf);
    }

    // ---- the pool ----

    /** Changes the size. No permit is taken back: after a shrink nothing is granted until enough permits are released. */
    public void resize(int permits, long now) {
        reconfigure(permits, tree.shares(), settings, now);
    }

    /**
     * Changes the settings of tenants and their places in the hierarchy while they hold and wait for permits. How far each
     * node is ahead or behind stays.
     */
    public void reconfigure(TenantShares shares, long now) {
        reconfigure(path.permits, shares, settings, now);
    }

    /**
     * Changes size, shares and settings at once. When it throws, nothing has changed.
     *
     * @throws IllegalArgumentException when {@code permits} is below 1, or the calculator returns less than 1
     * @throws IllegalStateException while permits are lent
     */
    public void reconfigure(int permits, TenantShares shares, FairnessSettings settings, long now) {
        requirePermits(permits);
        requireNothingLent();
        CalculatedCaps caps = CalculatedCaps.of(shares.calculator(), permits);
        path.tick(now);
        path.permits = permits;
        path.maxCollect = settings.maxCollect().toNanos();
        this.settings = settings;
        tree.change(shares, caps);
        tree.allSiblings()
                .forEach(siblings -> siblings.setMemory(settings.memory().toNanos()));
        tree.settleAll();
    }

    public int permits() {
        return path.permits;
    }

    public int inFlight() {
        return path.pool.inFlight;
    }

    public int waiting() {
        return path.pool.waiting;
    }

    /** The state of every tenant and group, also of the idle ones that owe nothing. Takes time in proportion to all of them. */
    public PoolStatus status(long now) {
        path.tick(now);
        return new StatusReport(path, siblings -> List.copyOf(siblings.all)).make();
    }

    /**
     * Like {@link #status}, without tenants and groups that are idle and owe nothing. Takes time in proportion to n log n for
     * the n others.
     */
    public PoolStatus present(long now) {
        path.tick(now);
        return report().make();
    }

    public PoolTotals totals() {
        return new PoolTotals(path.permits, path.pool.inFlight, path.pool.waiting);
    }

    /** The state of one tenant. Takes no longer than {@link #present}, and constant time for a tenant that is idle. */
    public TenantStanding standing(TenantId tenant, long now) {
        Share share = tree.tenant(tenant);
        if (share == null || share.isIdle()) {
            return new TenantStanding(
                    totals(), 0, 0, 0, tree.shares().of(tenant).weight());
        }
        path.tick(now);
        return new TenantStanding(totals(), share.inFlight, share.waiting, report().share(share), share.weight());
    }

    private StatusReport report() {
        return new StatusReport(path, siblings -> siblings.present.thatCount(siblings));
    }

    // ---- steps ----

    private @Nullable QueuedRequest next() {
        QueuedRequest claim = next.find();
        return claim == null && !path.large.isIdle() && path.large.bringBackOne() ? next.find() : claim;
    }

    private void give(QueuedRequest claim, Share leaf) {
        takeOut(claim, Place.HOLDING);
        claim.grantedAt = path.now();
        claim.grant = path.nextGrant();
        path.countGrant(leaf, claim.permits(), claim.grant);
        if (path.available() < 0) {
            throw new IllegalStateException("granted %d permits more than there are".formatted(-path.available()));
        }
        path.boundLags(leaf);
    }

    private Share takeOut(QueuedRequest claim, Place to) {
        Share leaf = SharePath.leafOf(claim);
        path.tickUpFrom(leaf);
        if (!path.large.isIdle()) {
            if (to == Place.GONE) {
                path.large.left(claim);
            } else {
                path.large.granted(claim);
            }
            path.large.comeBack(leaf);
        }
        leaf.queue.remove(claim);
        path.countDeparture(leaf);
        claim.place = to;
        return leaf;
    }

    private void settle(Share leaf) {
        path.settle(leaf);
        tree.forgetIfIdle(leaf);
    }

    private static void requirePermits(int permits) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
    }

    private void requireNothingLent() {
        if (path.lent != 0) {
            throw new IllegalStateException("%d permits are lent (expected: 0)".formatted(path.lent));
        }
    }

    private static void requirePlace(QueuedRequest claim, Place expected) {
        if (claim.place != expected) {
            throw new IllegalStateException("claim is %s (expected: %s)".formatted(claim.place, expected));
        }
    }
}

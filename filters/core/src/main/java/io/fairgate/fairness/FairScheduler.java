package io.fairgate.fairness;

import io.fairgate.fairness.Claim.Place;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Occupancy Fair Queueing over one pool; the package's description has the algorithm and the words.
 *
 * <p>A state machine without threads, clock or signals: one caller at a time, and every call says what time it is, in
 * nanoseconds of a clock that does not go back (if it does, time stands still meanwhile). Changes are told by
 * {@link #enqueue}, {@link #cancel}, {@link #release}, {@link #resize} and {@link #reconfigure}; permits are handed out
 * only by {@link #grant}, which is to be called after them.
 *
 * <p>Accounts are whole numbers, so that their sums are the same in whatever order they are made, and stay so
 * (docs/decisions/0011-whole-accounts-and-a-heap.md). Finding the next claim takes time in proportion to the logarithm of
 * the backlogged tenants ({@link HeapBacklog}).
 *
 * <p>This class says what happens to claims. Which nodes there are is in {@link ShareTree}, what a claim does to the nodes
 * above it in {@link SharePath}, which claim is next in {@link NextClaim}, and what a claim gets that needs more permits
 * than are free in {@link LargeClaims}.
 */
public final class FairScheduler {

    private final SharePath path;
    private final ShareTree tree;
    private final NextClaim next;
    private FairnessSettings settings = FairnessSettings.USUAL;

    /** A pool of {@code permits}, with the usual settings. */
    public FairScheduler(int permits, TenantShares shares, long now) {
        this(permits, shares, FairnessSettings.USUAL, now);
    }

    /** A gain that follows the holds. */
    public FairScheduler(int permits, TenantShares shares, FairnessSettings settings, long now) {
        this(permits, shares, settings, Duration.ZERO, now);
    }

    /**
     * @param gain the gain of the key for good; zero lets it follow the holds
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

    // ---- what happens to claims ----

    /** Whether a claim of this size could be granted if everybody else gave back what they hold. */
    public boolean canEverFit(TenantId tenant, int n) {
        Share known = tree.tenant(tenant);
        ShareSettings settings = known == null ? tree.shares().of(tenant) : known.settings;
        return n <= tree.capAlone(settings)
                && (known == null ? n + path.top.reserved <= path.permits : path.fitsWhenAllElseIsFree(known, n));
    }

    /** The same, of that many beside what the tenant has in flight. */
    public boolean canEverFitBeside(TenantId tenant, int n) {
        Share known = tree.tenant(tenant);
        return canEverFit(tenant, n + (known == null ? 0 : known.inFlight));
    }

    /** The same, with what the class of the request may hold. */
    public boolean canEverFit(Claim claim) {
        return claim.permits() <= tree.shares().ofClass(claim.requestClass()).maxInFlight()
                && canEverFit(claim.tenant(), claim.permits());
    }

    /** Puts the claim at the end of its queue: that of its tenant, or of its class in its tenant. */
    public void enqueue(Claim claim, long now) {
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

    /** Takes a waiting claim out of its queue, in constant time for each level of the tree. */
    public void cancel(Claim claim, long now) {
        requirePlace(claim, Place.WAITING);
        path.tick(now);
        settle(takeOut(claim, Place.GONE));
    }

    /** Takes the permits of a claim back. */
    public void release(Claim claim, long now) {
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

    /** Hands out all permits that can be handed out, in the order of the keys; {@code granted} must not call back. */
    public void grant(long now, Consumer<Claim> granted) {
        path.tick(now);
        path.adjustGains();
        tree.followActive();
        if (!path.large.isIdle()) {
            path.large.endWhatTakesTooLong();
        }
        for (Claim claim = next(); claim != null; claim = next()) {
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
     * The claim that has to leave because with one that has arrived more wait than the settings of its tenant, of its
     * class or of a group allow: the newest where it is one too many, of the longest queue there.
     */
    public @Nullable Claim overOwnBound(Claim arrived) {
        for (Share node = SharePath.leafOf(arrived); !node.isPool(); node = node.parent()) {
            if (node.waiting > node.settings.maxWaiting()) {
                return newestOfLongest(node);
            }
        }
        return null;
    }

    /**
     * The claim that has to leave because more than {@code maxWaiting} wait in all: the newest of the tenant with the
     * longest queue per weight. So whoever floods the queue pays for it, and a tenant with a short queue always finds
     * a place. In a tree that is decided from the pool down.
     */
    public @Nullable Claim overPoolBound(int maxWaiting) {
        return waiting() <= maxWaiting ? null : newestOfLongest(path.pool);
    }

    /** Down to a leaf, at each node to the child with the longest queue per weight. */
    private static @Nullable Claim newestOfLongest(Share node) {
        Share longest = node;
        while (longest != null && longest.below != null) {
            longest = longest.below.present.longestQueue();
        }
        return longest == null ? null : longest.queue.newest();
    }

    /** Whether a waiting claim waits for a cap of its tenant, its class or a group rather than for the pool. */
    public boolean waitsForOwnCap(Claim claim) {
        Share lacking = path.lacking(claim, SharePath.leafOf(claim));
        return lacking != null && !lacking.isPool();
    }

    /**
     * When {@link #grant} is to be called though nothing else has happened, because permits are then kept for a large claim no
     * longer: nanoseconds of the clock, or {@link Long#MAX_VALUE}. It may be another time after each call.
     */
    public long nextEndOfCollection() {
        return path.large.isIdle() ? LargeClaims.NEVER : path.large.nextEnd();
    }

    // ---- permits that are taken without asking, while nobody waits ----

    /**
     * Lends free permits out of the pool, one by one to whoever takes them: until {@link #takeBack} or {@link #adopt} the
     * scheduler knows nothing of them. Nobody may be waiting, and nothing but {@link #release} may happen meanwhile.
     *
     * @return how many, at most {@code most}
     */
    public int lend(int most) {
        int lending = (int) Math.max(0, Math.min(most, path.available()));
        path.lent += lending;
        return lending;
    }

    /** Takes back as many lent permits that nobody has taken. */
    public void takeBack(int permits) {
        path.lent -= permits;
    }

    /** Counts from now on what a claim has taken of the lent permits, as if it had been granted at that time. */
    public void adopt(Claim claim, long since, long now) {
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
     * Counts what a claim holds already, whatever there is: as after a shrink, nothing is granted until enough has come
     * back. No permit may be lent.
     */
    public void restore(Claim claim, long now) {
        requireNothingLent();
        path.lent += claim.permits();
        adopt(claim, now, now);
        Share leaf = SharePath.leafOf(claim);
        path.boundLags(leaf);
        settle(leaf);
    }

    // ---- what happens to the pool ----

    /** Changes the size. Nothing is taken back: after a shrink nothing is granted until enough has come back. */
    public void resize(int permits, long now) {
        reconfigure(permits, tree.shares(), settings, now);
    }

    /**
     * Changes what tenants may claim, and where in the tree they are, while they claim it; how far each is ahead or behind
     * stays.
     */
    public void reconfigure(TenantShares shares, long now) {
        reconfigure(path.permits, shares, settings, now);
    }

    /** All at once. What throws has changed nothing. */
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

    /** How every tenant and group stands, also those that are idle and owe nothing. Takes time in proportion to all of them. */
    public PoolStatus status(long now) {
        path.tick(now);
        return new StatusReport(path, siblings -> List.copyOf(siblings.all)).make();
    }

    /**
     * The same without tenants and groups that are idle and owe nothing. Takes time in proportion to the others, times
     * their logarithm.
     */
    public PoolStatus present(long now) {
        path.tick(now);
        return report().make();
    }

    public PoolTotals totals() {
        return new PoolTotals(path.permits, path.pool.inFlight, path.pool.waiting);
    }

    /** How one tenant stands. Takes no longer than {@link #present}, and constant time for a tenant that is idle. */
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

    // ---- the steps of it ----

    private @Nullable Claim next() {
        Claim claim = next.find();
        return claim == null && !path.large.isIdle() && path.large.bringBackOne() ? next.find() : claim;
    }

    private void give(Claim claim, Share leaf) {
        takeOut(claim, Place.HOLDING);
        claim.grantedAt = path.now();
        claim.grant = path.nextGrant();
        path.countGrant(leaf, claim.permits(), claim.grant);
        if (path.available() < 0) {
            throw new IllegalStateException("granted %d permits more than there are".formatted(-path.available()));
        }
        path.boundLags(leaf);
    }

    private Share takeOut(Claim claim, Place to) {
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

    private static void requirePlace(Claim claim, Place expected) {
        if (claim.place != expected) {
            throw new IllegalStateException("claim is %s (expected: %s)".formatted(claim.place, expected));
        }
    }
}

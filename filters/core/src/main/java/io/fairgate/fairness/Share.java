package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/**
 * One node of the tree of shares: the pool, a group of tenants, a tenant, or a class of a tenant's requests. Claims wait
 * at the leaves; whoever has nodes below it has {@link Siblings} instead.
 *
 * <p>What it holds and was served is counted beside its siblings, on their clock. Plain fields: one thread at a time
 * drives the scheduler.
 */
final class Share {

    /** Weights are counted in millionths: sums of whole numbers are exact, in whatever order they are made. */
    static final double WEIGHT_UNIT = 1e-6;

    /** What a node costs that has nobody waiting. */
    static final long NOTHING_WAITS = Long.MAX_VALUE;

    final long ordinal;
    final ClaimQueue queue = new ClaimQueue();

    /** The nodes below it; null for a leaf. */
    final @Nullable Siblings below;

    /** Those among whom it is, which are below its parent; null for the pool. */
    @Nullable
    Siblings siblings;

    /** Of a group, or of a class of requests; empty for requests without a class. */
    String name = "";

    /** Which tenant it is; null for all that are not tenants. */
    @Nullable
    TenantId tenant;

    ShareSettings settings;
    private long weightUnits;
    /** A cap beside that of the settings, which may change at any time; null where there is none. */
    @Nullable
    CalculatedCap calculatedCap;

    /** Whether it is configured; others are forgotten when they are idle and owe nothing. */
    boolean configured;

    int inFlight;
    /** Free permits that are kept for a claim at it or below it: its account counts them as if it held them. */
    int collected;
    /** Claims that wait at it or below it. */
    int waiting;

    boolean backlogged;
    /** Whether the first claim of this leaf is larger than what may be collected now ({@link LargeClaims}). */
    boolean isAside;
    /** Whether its last grant was due to a guarantee or a reservation, and not to its key. */
    boolean isServedFirst;

    long lastGrant;
    /** When it came to be idle, on the clock of its siblings. */
    long idleSince;

    /** How far it is behind, in permit-nanoseconds, while the tree is being changed. */
    long lag;

    // Where the heaps have it, and the key and the cost under which they do.
    int placeByKey = -1;
    int placeAmongPromised = -1;
    int placeByCost = -1;
    int placeByQueue = -1;
    int placeAmongPresent = -1;
    double filedKey;
    long filedCost;

    /** Permit-nanoseconds used on the clock of its siblings, as of {@link #servedAt} on that clock. */
    private long served;

    private long servedAt;

    /** The sum of the times at which the permits in flight were granted; it may wrap around, differences do not. */
    private long grantedAt;

    /** Permits granted while others were kept for a larger claim, in the collection of that number. */
    private int passed;

    private long passedCollection;

    Share(long ordinal, ShareSettings settings, boolean configured, @Nullable Siblings below) {
        this.ordinal = ordinal;
        this.settings = settings;
        this.weightUnits = weightUnits(settings);
        this.configured = configured;
        this.below = below;
        if (below != null) {
            below.setParent(this);
        }
    }

    /** The next node on the way up to the pool. */
    Share parent() {
        return siblings().parent();
    }

    /** Those among whom it is; only the pool is among nobody. */
    Siblings siblings() {
        Siblings those = siblings;
        if (those == null) {
            throw new IllegalStateException("the pool has no siblings");
        }
        return those;
    }

    boolean isLeaf() {
        return below == null;
    }

    boolean isPool() {
        return siblings == null;
    }

    /** Whether it neither holds nor wants anything. */
    boolean isIdle() {
        return inFlight == 0 && waiting == 0;
    }

    double weight() {
        return settings.weight();
    }

    void setSettings(ShareSettings settings) {
        this.settings = settings;
        weightUnits = weightUnits(settings);
    }

    /** Permits that it may occupy at most now. A calculated cap always leaves room for what is guaranteed. */
    int cap() {
        int most = settings.maxInFlight();
        return calculatedCap == null ? most : Math.min(most, Math.max(calculatedCap.permits, settings.guaranteed()));
    }

    long weightUnits() {
        return weightUnits;
    }

    static long weightUnits(ShareSettings settings) {
        return Math.max(1, Math.round(settings.weight() / WEIGHT_UNIT));
    }

    // ---- what it used ----

    long served(long contendedNow) {
        return served + rate() * (contendedNow - servedAt);
    }

    /** Permits that its account counts: those in flight, and those that idle for it. */
    long rate() {
        return (long) inFlight + collected;
    }

    void setServed(long value, long contendedNow) {
        served = value;
        servedAt = contendedNow;
    }

    /** Permit-nanoseconds for which what is in flight now has been held. */
    long heldNanos(long now) {
        return (long) inFlight * now - grantedAt;
    }

    /**
     * Every change of {@link #inFlight} by a claim goes through here, so that what was used until now counts the old
     * number.
     *
     * @param permits how many more, or fewer
     * @param since when these permits were granted
     */
    void changeInFlight(int permits, long since, long contendedNow) {
        setServed(served(contendedNow), contendedNow);
        grantedAt += (long) permits * since;
        inFlight += permits;
    }

    /** So many free permits idle for it from now on. */
    void setCollected(int permits, long contendedNow) {
        setServed(served(contendedNow), contendedNow);
        collected = permits;
    }

    /** Before what is below it is counted anew with {@link #count}; its own account must have been brought forward. */
    void countNothing() {
        inFlight = 0;
        waiting = 0;
        grantedAt = 0;
    }

    void count(Share child) {
        inFlight += child.inFlight;
        waiting += child.waiting;
        grantedAt += child.grantedAt;
    }

    /** Takes the place of a node in every account. */
    void continueFrom(Share other) {
        inFlight = other.inFlight;
        collected = other.collected;
        waiting = other.waiting;
        lastGrant = other.lastGrant;
        served = other.served;
        servedAt = other.servedAt;
        grantedAt = other.grantedAt;
        isServedFirst = other.isServedFirst;
        passed = other.passed;
        passedCollection = other.passedCollection;
    }

    double key(long contendedNow, long gain) {
        return (double) (served(contendedNow) + gain * inFlight) / weightUnits();
    }

    // ---- what it occupies and costs ----

    /** Permits that it and those below it hold, or keep for themselves. */
    private long used() {
        return below == null ? inFlight : below.occupied;
    }

    /** The same, and what is reserved for the node as a whole: what its parent has no more to give. */
    long occupied() {
        return Math.max(used(), settings.reserved());
    }

    /** What it occupies when nobody at it or below it holds anything. */
    long keeps() {
        return below == null ? settings.reserved() : Math.max(below.reserved, settings.reserved());
    }

    /** What a grant costs its parent that costs {@code n} at this node; at a leaf those are the permits granted. */
    long costOf(long n) {
        long used = used();
        return Math.max(used + n, settings.reserved()) - Math.max(used, settings.reserved());
    }

    boolean capAllows(long n) {
        return n <= room();
    }

    /** How much more its cap allows. */
    long room() {
        int cap = cap();
        return cap == ShareSettings.UNBOUNDED ? Long.MAX_VALUE : (long) cap - used();
    }

    /** The least that granting something here costs the parent; {@link #NOTHING_WAITS} when nothing can be granted. */
    long leastCost() {
        if (below == null) {
            Claim head = queue.head();
            return head == null ? NOTHING_WAITS : costOf(head.permits());
        }
        return below.backlog.isEmpty() ? NOTHING_WAITS : costOf(below.backlog.leastCost());
    }

    // ---- its guarantee ----

    /**
     * Whether what it would be granted next is within its guarantee as a whole. Of a node with others below it this only
     * says that it may be: what is next there is known when it is looked for.
     */
    boolean isPromised() {
        if (settings.guaranteed() == 0) {
            return false;
        }
        Claim head = queue.head();
        return below == null ? head != null && isPromised(head.permits()) : isPromised(1);
    }

    /** Whether so many more permits are within its guarantee. */
    boolean isPromised(int n) {
        return (long) inFlight + n <= settings.guaranteed();
    }

    double partOfGuarantee() {
        return (double) inFlight / settings.guaranteed();
    }

    /** Whether it may be granted {@code n} permits while others are kept for a larger claim. */
    boolean mayPass(long collection, int n) {
        return (passedCollection == collection ? passed : 0) + n <= settings.guaranteed();
    }

    void countPass(long collection, int n) {
        passed = (passedCollection == collection ? passed : 0) + n;
        passedCollection = collection;
    }

    @Override
    public String toString() {
        return "%s (holds %d, waiting %d)".formatted(tenant == null ? name : tenant, inFlight, waiting);
    }
}

package io.fairgate.fairness;

import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One node of the hierarchy: the pool, a group of tenants, a tenant, or a class of a tenant's requests. Requests wait at
 * the leaves; a node with children has {@link SchedulingGroup} instead of a queue.
 *
 * <p>Its permit-time is counted on the clock that it shares with its siblings. Plain fields: one thread
 * at a time drives the scheduler.
 */
final class SchedulingNode {

    /** Weights are counted in millionths: sums of whole numbers are exact and do not depend on their order. */
    static final double WEIGHT_UNIT = 1e-6;

    /** A part of a guarantee is whole when it misses a whole number by this. */
    private static final double ROUNDING = 1e-6;

    /** The cap that a {@link ShareCalculator} gives each tenant now: one instance for all tenants, which changes for all at once. */
    static final class CalculatedCap {
        int permits = ShareSettings.UNBOUNDED;
    }

    /** The cost of a grant at a node with no waiting request. */
    static final long NOTHING_WAITS = Long.MAX_VALUE;

    final long ordinal;
    final LeafQueue queue = new LeafQueue();

    /** The children; null for a leaf. */
    final @Nullable SchedulingGroup children;

    /** The children of the parent, of which this node is one; null for the pool. */
    @Nullable
    SchedulingGroup siblings;

    /** The name of the group or of the class of requests; empty for requests without a class. */
    String name = "";

    /** The tenant; null for the pool, groups and classes. */
    @Nullable
    TenantId tenant;

    ShareSettings settings;
    /** The weight, in units of {@link #WEIGHT_UNIT}, as far as it counts here: {@link #part}. */
    long weightUnits;
    /** The part of weight and guarantee that counts in this pool; the rest counts in other pools that share permits with it. */
    double part = 1;
    /** A cap in addition to that of the settings, which may change at any time; null for none. */
    @Nullable
    CalculatedCap calculatedCap;

    /** Whether the policy names the node; other nodes are forgotten when they are idle and owe nothing. */
    boolean configured;

    int inFlight;
    /** Free permits that are collected for a request at or below the node: its account counts them as if it held them. */
    int collected;
    /** Requests that wait at or below the node. */
    int waiting;

    boolean backlogged;
    /** Whether the first request of this leaf is larger than what may be collected now ({@link LargeRequests}). */
    boolean isAside;
    /** Whether the node's last grant was due to a guarantee or a reservation, and not to its key. */
    boolean isServedFirst;

    long lastGrant;
    /** When the node became idle, on the contended clock of its siblings. */
    long idleSince;

    // The node's places in the heaps, and the key and the cost under which it is filed there.
    int placeByKey = -1;
    int placeByPartOfGuarantee = -1;
    int placeByCost = -1;
    int placeByQueue = -1;
    int placeAmongPresent = -1;
    double filedKey;
    long filedCost;

    /** Permit-nanoseconds used on the contended clock of its siblings until {@link #chargedUntil} on that clock. */
    private long permitTime;

    private long chargedUntil;

    /** The sum of the times at which the permits in flight were granted; it may wrap around, differences do not. */
    private long grantedAt;

    /** Permits granted to the node while permits were collected for a larger request: in {@link #passedCollection}. */
    private int passed;

    /** The number of that collection. */
    private long passedCollection;

    SchedulingNode(long ordinal, ShareSettings settings, boolean configured, @Nullable SchedulingGroup children) {
        this.ordinal = ordinal;
        this.settings = settings;
        this.weightUnits = weightUnits(settings, part);
        this.configured = configured;
        this.children = children;
        if (children != null) {
            children.parent = this;
        }
    }

    SchedulingNode parent() {
        return siblings().parent();
    }

    SchedulingGroup siblings() {
        return Objects.requireNonNull(siblings, "the pool has no siblings");
    }

    boolean isPool() {
        return siblings == null;
    }

    boolean isIdle() {
        return inFlight == 0 && waiting == 0;
    }

    double weight() {
        return settings.weight();
    }

    void setSettings(ShareSettings settings) {
        this.settings = settings;
        weightUnits = weightUnits(settings, part);
    }

    /** The most permits that the node may occupy now. A calculated cap always leaves room for the guarantee. */
    int cap() {
        int most = settings.maxInFlight();
        return calculatedCap == null ? most : Math.min(most, Math.max(calculatedCap.permits, settings.guaranteed()));
    }

    static long weightUnits(ShareSettings settings, double part) {
        return Math.max(1, Math.round(settings.weight() * part / WEIGHT_UNIT));
    }

    // ---- the account ----

    long permitTime(long contendedNow) {
        return permitTime + rate() * (contendedNow - chargedUntil);
    }

    /** The permits that the account counts: those in flight, and those collected for a request of the node. */
    long rate() {
        return (long) inFlight + collected;
    }

    void setPermitTime(long value, long contendedNow) {
        permitTime = value;
        chargedUntil = contendedNow;
    }

    /** Permit-nanoseconds for which the permits in flight have been held so far. */
    long heldNanos(long now) {
        return (long) inFlight * now - grantedAt;
    }

    /**
     * Changes {@link #inFlight} by permits granted at {@code since}, after charging the time until now at the old number.
     */
    void changeInFlight(int permits, long since, long contendedNow) {
        setPermitTime(permitTime(contendedNow), contendedNow);
        grantedAt += (long) permits * since;
        inFlight += permits;
    }

    /** Resets the counts before {@link #count} adds up the children; the account must have been brought forward before. */
    void countNothing() {
        inFlight = 0;
        waiting = 0;
        grantedAt = 0;
    }

    void count(SchedulingNode child) {
        inFlight += child.inFlight;
        waiting += child.waiting;
        grantedAt += child.grantedAt;
    }

    /** Copies the account and the counts of the node that this one replaces. */
    void continueFrom(SchedulingNode other) {
        inFlight = other.inFlight;
        collected = other.collected;
        waiting = other.waiting;
        lastGrant = other.lastGrant;
        permitTime = other.permitTime;
        chargedUntil = other.chargedUntil;
        grantedAt = other.grantedAt;
        isServedFirst = other.isServedFirst;
        part = other.part;
        weightUnits = other.weightUnits;
        passed = other.passed;
        passedCollection = other.passedCollection;
    }

    double key(long contendedNow, long gain) {
        return (double) (permitTime(contendedNow) + gain * inFlight) / weightUnits;
    }

    // ---- occupied permits and costs ----

    /** Permits that the node or the nodes below it hold or keep reserved. */
    private long used() {
        return children == null ? inFlight : children.occupied;
    }

    /** Permits that the parent cannot give to other children: those used, and those reserved for the node as a whole. */
    long occupied() {
        return Math.max(used(), settings.reserved());
    }

    /** The permits that the node occupies while no permit is held at or below it. */
    long keeps() {
        return children == null ? settings.reserved() : Math.max(children.reserved, settings.reserved());
    }

    /** The cost to the parent of a grant that costs {@code n} at this node; at a leaf {@code n} is the permits granted. */
    long costOf(long n) {
        long used = used();
        return Math.max(used + n, settings.reserved()) - Math.max(used, settings.reserved());
    }

    /** Permits that the cap still allows; {@link Long#MAX_VALUE} without a cap. */
    long room() {
        int cap = cap();
        return cap == ShareSettings.UNBOUNDED ? Long.MAX_VALUE : (long) cap - used();
    }

    /**
     * The smallest cost to the parent of a grant at or below the node; {@link #NOTHING_WAITS} when there is no candidate.
     */
    long leastCost() {
        if (children == null) {
            QueuedRequest head = queue.head();
            return head == null ? NOTHING_WAITS : costOf(head.permits());
        }
        return children.runQueue.isEmpty() ? NOTHING_WAITS : costOf(children.runQueue.leastCost());
    }

    // ---- the guarantee ----

    /** Whole permits, rounded down: the rest of the guarantee counts in other pools that share permits with this one. */
    private int guaranteed() {
        return (int) (settings.guaranteed() * part + ROUNDING);
    }

    /**
     * Whether the next request is within the node's guarantee as a whole. For a node with children this only says that it
     * may be: its next request is not known before the search goes down to it.
     */
    boolean isPromised() {
        if (guaranteed() == 0) {
            return false;
        }
        QueuedRequest head = queue.head();
        return children == null ? head != null && isPromised(head.permits()) : isPromised(1);
    }

    /** Whether {@code n} more permits are within the guarantee. */
    boolean isPromised(int n) {
        return (long) inFlight + n <= guaranteed();
    }

    double partOfGuarantee() {
        return (double) inFlight / guaranteed();
    }

    /** Whether the node may be granted {@code n} permits while permits are collected for a larger request. */
    boolean mayPass(long collection, int n) {
        return (passedCollection == collection ? passed : 0) + n <= guaranteed();
    }

    void countPass(long collection, int n) {
        passed = (passedCollection == collection ? passed : 0) + n;
        passedCollection = collection;
    }
}

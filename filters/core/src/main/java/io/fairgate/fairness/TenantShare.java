package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;

/** What the scheduler knows of one tenant. Plain fields: one thread at a time drives the scheduler. */
final class TenantShare {

    /** Weights are counted in millionths: sums of whole numbers are exact, in whatever order they are made. */
    static final double WEIGHT_UNIT = 1e-6;

    final TenantId id;
    final long ordinal;
    final ClaimQueue queue = new ClaimQueue();

    ShareSettings settings;
    /** Whether the tenant is configured; others are forgotten when they are idle and owe nothing. */
    boolean configured;

    int inFlight;
    boolean backlogged;
    long lastGrant;

    // Where the heaps have it, and the key under which they do.
    int placeByKey = -1;
    int placeAmongPromised = -1;
    double filedKey;

    /** Permit-nanoseconds used on the contended clock, as of {@link #servedAt} on that clock. */
    private long served;

    private long servedAt;

    /** The sum of the times at which the permits in flight were granted; it may wrap around, differences do not. */
    private long grantedAt;

    /** Permits granted past the pin with the number {@link #passedPin}. */
    private int passed;

    private long passedPin;

    TenantShare(TenantId id, long ordinal, ShareSettings settings, boolean configured, long contendedNow) {
        this.id = id;
        this.ordinal = ordinal;
        this.settings = settings;
        this.configured = configured;
        this.servedAt = contendedNow;
    }

    double weight() {
        return settings.weight();
    }

    long weightUnits() {
        return weightUnits(settings);
    }

    static long weightUnits(ShareSettings settings) {
        return Math.max(1, Math.round(settings.weight() / WEIGHT_UNIT));
    }

    long served(long contendedNow) {
        return served + inFlight * (contendedNow - servedAt);
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
     * Every change of {@link #inFlight} goes through here, so that what was used until now counts the old number.
     *
     * @param permits how many more, or fewer
     * @param since when these permits were granted
     */
    void changeInFlight(int permits, long since, long contendedNow) {
        setServed(served(contendedNow), contendedNow);
        grantedAt += (long) permits * since;
        inFlight += permits;
    }

    double key(long contendedNow, long horizon) {
        return (double) (served(contendedNow) + horizon * inFlight) / weightUnits();
    }

    /** What granting {@code n} more takes from the permits that are free for everybody. */
    int costOf(int n) {
        return Math.max(inFlight + n, settings.reserved()) - Math.max(inFlight, settings.reserved());
    }

    boolean capAllows(int n) {
        return inFlight + n <= settings.maxInFlight();
    }

    boolean isBelowGuarantee() {
        return inFlight < settings.guaranteed();
    }

    double partOfGuarantee() {
        return (double) inFlight / settings.guaranteed();
    }

    /** Whether granting what waits first costs the others nothing. */
    boolean headIsWithinReservation() {
        Claim head = queue.head();
        return head != null && inFlight + head.permits() <= settings.reserved();
    }

    boolean mayPass(long pin, int n) {
        return (passedPin == pin ? passed : 0) + n <= settings.guaranteed();
    }

    void countPass(long pin, int n) {
        passed = (passedPin == pin ? passed : 0) + n;
        passedPin = pin;
    }
}

package io.fairgate.fairness;

import io.fairgate.fairness.Claim.Place;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
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
 * <p>This class is over 250 lines because the rules of joining, leaving and charging only make sense side by side; what
 * can be told apart (queue, backlog, horizon, shares) is in classes of its own.
 */
public final class FairScheduler {

    /** Bound of a tenant's lag, in units of the lag at which a tenant with a share below one permit settles. */
    public static final double DEFAULT_THETA = 3;

    /** Permit-nanoseconds that fit into an account, and into the sum of all, with room to spare. */
    private static final long LARGEST_ACCOUNT = 1L << 60;

    private static final int SWEEP_ABOVE = 64;

    private final Map<TenantId, TenantShare> tenants = new LinkedHashMap<>();
    private final Backlog backlog;
    private final Horizon horizon;
    private final double theta;

    private TenantShares shares = TenantShares.EQUAL;
    private int permits;
    private long available;
    private long reserved;
    private int inFlight;
    private int waiting;
    private int lent;

    private long now;
    private long contendedNow;
    private boolean contended;
    private double idleLevel;
    private long rebasedAt;
    private long heaviest;
    private long grants;
    private long ordinals;
    private long pins;
    private int sweepAbove = SWEEP_ABOVE;
    private @Nullable Claim pin;

    /** A pool of {@code permits}, with the horizon that follows the holds. */
    public FairScheduler(int permits, TenantShares shares, long now) {
        this(permits, shares, Duration.ZERO, DEFAULT_THETA, now);
    }

    /**
     * @param horizon the horizon for good; zero lets it follow the holds
     * @param theta bound of the lag; infinite to never forgive
     */
    public FairScheduler(int permits, TenantShares shares, Duration horizon, double theta, long now) {
        this(permits, shares, horizon, theta, now, new HeapBacklog());
    }

    FairScheduler(int permits, TenantShares shares, Duration horizon, double theta, long now, Backlog backlog) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
        this.permits = permits;
        this.available = permits;
        this.theta = theta;
        this.backlog = backlog;
        this.now = now;
        this.horizon = new Horizon(horizon.toNanos(), now);
        backlog.afterChangeOfAll(contendedNow, this.horizon.nanos());
        reconfigure(shares, now);
    }

    // ---- what happens to claims ----

    /** Whether a claim of this size could be granted if everybody else gave back what they hold. */
    public boolean canEverFit(TenantId tenant, int n) {
        ShareSettings settings = shares.of(tenant);
        return n <= settings.maxInFlight() && fitsBesideReservations(settings, n);
    }

    /** Puts the claim at the end of its tenant's queue. */
    public void enqueue(Claim claim, long now) {
        requirePlace(claim, Place.OUTSIDE);
        requireNothingLent();
        tick(now);
        TenantShare share = tenants.computeIfAbsent(claim.tenant(), this::newTenant);
        claim.share = share;
        claim.place = Place.WAITING;
        share.queue.append(claim);
        waiting++;
        settle(share);
    }

    /** Takes a waiting claim out of its queue, in constant time. */
    public void cancel(Claim claim, long now) {
        requirePlace(claim, Place.WAITING);
        tick(now);
        settle(takeOut(claim, Place.GONE));
    }

    /** Takes the permits of a claim back. */
    public void release(Claim claim, long now) {
        requirePlace(claim, Place.HOLDING);
        tick(now);
        TenantShare share = Objects.requireNonNull(claim.share);
        horizon.observeHold(Math.max(0, this.now - claim.grantedAt));
        claim.place = Place.GONE;
        available -= share.costOf(-claim.permits());
        changeInFlight(share, -claim.permits(), claim.grantedAt);
        clamp(share);
        settle(share);
    }

    /** Hands out all permits that can be handed out, in the order of the keys; {@code granted} must not call back. */
    public void grant(long now, Consumer<Claim> granted) {
        tick(now);
        adjustHorizon();
        for (Claim claim = next(); claim != null; claim = next()) {
            TenantShare share = Objects.requireNonNull(claim.share);
            if (claim.accept()) {
                give(claim, share);
                granted.accept(claim);
            } else {
                takeOut(claim, Place.GONE);
            }
            settle(share);
        }
        contended = !backlog.isEmpty();
        sweepWhenMany();
    }

    /** The claim that has to leave because its tenant has more waiting than its own settings allow: the newest. */
    public @Nullable Claim overOwnBound(TenantId tenant) {
        TenantShare share = tenants.get(tenant);
        return share != null && share.queue.size() > share.settings.maxWaiting() ? share.queue.newest() : null;
    }

    /**
     * The claim that has to leave because more than {@code maxWaiting} wait in all: the newest of the tenant with the
     * longest queue per weight. So whoever floods the queue pays for it, and a tenant with a short queue always finds
     * a place.
     */
    public @Nullable Claim overPoolBound(int maxWaiting) {
        if (waiting <= maxWaiting) {
            return null;
        }
        TenantShare longest = null;
        for (TenantShare share : tenants.values()) {
            if (longest == null || share.queue.size() / share.weight() > longest.queue.size() / longest.weight()) {
                longest = share;
            }
        }
        return longest == null ? null : longest.queue.newest();
    }

    /** Whether a waiting claim waits for its tenant's own cap rather than for the pool. */
    public boolean waitsForOwnCap(Claim claim) {
        TenantShare share = claim.share;
        return share != null && !share.capAllows(claim.permits());
    }

    // ---- permits that are taken without asking, while nobody waits ----

    /**
     * Lends free permits out of the pool, one by one to whoever takes them: until {@link #takeBack} or {@link #adopt} the
     * scheduler knows nothing of them. Nobody may be waiting, and nothing but {@link #release} may happen meanwhile.
     *
     * @return how many, at most {@code most}
     */
    public int lend(int most) {
        int lending = (int) Math.max(0, Math.min(most, available));
        lent += lending;
        available -= lending;
        return lending;
    }

    /** Takes back as many lent permits that nobody has taken. */
    public void takeBack(int permits) {
        lent -= permits;
        available += permits;
    }

    /** Counts from now on what a claim has taken of the lent permits, as if it had been granted at that time. */
    public void adopt(Claim claim, long since, long now) {
        requirePlace(claim, Place.OUTSIDE);
        tick(now);
        TenantShare share = tenants.computeIfAbsent(claim.tenant(), this::newTenant);
        int n = claim.permits();
        lent -= n;
        available += n - share.costOf(n);
        claim.share = share;
        claim.place = Place.HOLDING;
        claim.grantedAt = since;
        share.lastGrant = ++grants;
        changeInFlight(share, n, since);
        settle(share);
    }

    // ---- what happens to the pool ----

    /** Changes the size. Nothing is taken back: after a shrink nothing is granted until enough has come back. */
    public void resize(int permits, long now) {
        if (permits < 1) {
            throw new IllegalArgumentException("permits: %d (expected: >= 1)".formatted(permits));
        }
        requireNothingLent();
        tick(now);
        rebase();
        available += permits - this.permits;
        this.permits = permits;
        pin = null;
        List.copyOf(tenants.values()).forEach(this::settle);
    }

    /** Changes what tenants may claim, while they claim it; how far each is ahead or behind stays. */
    public void reconfigure(TenantShares shares, long now) {
        requireNothingLent();
        tick(now);
        this.shares = shares;
        this.reserved = shares.reserved();
        shares.members().keySet().forEach(id -> tenants.computeIfAbsent(id, this::newTenant));
        rebase();
        heaviest = TenantShare.weightUnits(shares.others());
        double level = level();
        for (TenantShare share : tenants.values()) {
            ShareSettings settings = shares.of(share.id);
            double lag = level * share.weightUnits() - share.served(contendedNow);
            share.settings = settings;
            heaviest = Math.max(heaviest, share.weightUnits());
            share.configured = shares.members().containsKey(share.id);
            share.setServed(Math.round(level * share.weightUnits() - lag), contendedNow);
        }
        backlog.afterChangeOfAll(contendedNow, horizon.nanos());
        available = permits
                - tenants.values().stream()
                        .mapToLong(share -> Math.max(share.inFlight, share.settings.reserved()))
                        .sum();
        pin = null;
        List.copyOf(tenants.values()).forEach(this::settle);
    }

    public int permits() {
        return permits;
    }

    public int inFlight() {
        return inFlight;
    }

    public int waiting() {
        return waiting;
    }

    /** How everything stands, at {@code now}. Takes time in proportion to the tenants, times their logarithm. */
    public PoolStatus status(long now) {
        tick(now);
        return new StatusReport(permits, inFlight, waiting, pin, horizon.nanos(), level(), contendedNow, this.now)
                .of(tenants.values());
    }

    // ---- the rule ----

    /** The claim to grant now, or null when none can be; pins one when it has to wait for more permits. */
    private @Nullable Claim next() {
        TenantShare own = available >= 0 ? backlog.firstWithinReservation(contendedNow) : null;
        if (own != null) {
            return headOf(own);
        }
        TenantShare promised = pin == null ? backlog.mostUrgent() : backlog.mostUrgentPast(this::passesPin);
        if (promised != null) {
            return pinUnlessItFits(promised);
        }
        return pinUnlessItFits(pin == null ? backlog.first(contendedNow) : Objects.requireNonNull(pin.share));
    }

    private @Nullable Claim pinUnlessItFits(@Nullable TenantShare share) {
        if (share == null) {
            return null;
        }
        Claim head = headOf(share);
        if (share.costOf(head.permits()) <= available) {
            return head;
        }
        if (available > 0 && pin == null) {
            pin = head;
            pins++;
        }
        return null;
    }

    private boolean passesPin(TenantShare share) {
        int n = headOf(share).permits();
        return share.costOf(n) <= available && share.mayPass(pins, n);
    }

    private void give(Claim claim, TenantShare share) {
        int n = claim.permits();
        if (pin != null && pin != claim && share.isBelowGuarantee() && share.costOf(n) > 0) {
            share.countPass(pins, n);
        }
        takeOut(claim, Place.HOLDING);
        available -= share.costOf(n);
        if (available < 0) {
            throw new IllegalStateException("granted %d permits more than there are".formatted(-available));
        }
        share.lastGrant = ++grants;
        claim.grantedAt = now;
        changeInFlight(share, n, now);
        clamp(share);
    }

    private TenantShare takeOut(Claim claim, Place to) {
        TenantShare share = Objects.requireNonNull(claim.share);
        share.queue.remove(claim);
        waiting--;
        claim.place = to;
        if (pin == claim) {
            pin = null;
        }
        return share;
    }

    // ---- who is backlogged, and the level ----

    /** Lets the tenant join or leave the backlogged ones, or the pool, as its queue, cap and permits now say. */
    private void settle(TenantShare share) {
        Claim head = share.queue.head();
        boolean competes = head != null
                && share.capAllows(head.permits())
                && fitsBesideReservations(share.settings, head.permits());
        if (competes && !share.backlogged) {
            long lifted = Math.max(share.served(contendedNow), Math.round(level() * share.weightUnits()));
            share.setServed(lifted, contendedNow);
            clamp(share);
            share.backlogged = true;
            backlog.add(share, contendedNow);
        } else if (!competes && share.backlogged) {
            idleLevel = level();
            share.backlogged = false;
            backlog.remove(share, contendedNow);
            if (pin != null && pin.share == share) {
                pin = null;
            }
        } else if (competes) {
            backlog.afterChangeOfQueue(share);
        }
        forgetIfIdle(share);
    }

    /** The weighted mean of served / weight over the backlogged tenants; the last one while nobody is backlogged. */
    private double level() {
        return backlog.isEmpty() ? idleLevel : (double) backlog.served(contendedNow) / backlog.weightUnits();
    }

    /** Bounds how far the tenant is ahead or behind. */
    private void clamp(TenantShare share) {
        double level = level();
        long weight = share.weightUnits();
        double bound = theta * horizon.nanos() * permits / Math.max(backlog.weightUnits(), weight);
        double served = (double) share.served(contendedNow) / weight;
        double bounded = Math.min(Math.max(served, level - bound), level + bound);
        if (bounded != served) {
            beforeChange(share);
            share.setServed(Math.round(bounded * weight), contendedNow);
            afterChange(share);
        }
    }

    private void changeInFlight(TenantShare share, int permits, long since) {
        beforeChange(share);
        inFlight += permits;
        share.changeInFlight(permits, since, contendedNow);
        afterChange(share);
    }

    private void beforeChange(TenantShare share) {
        if (share.backlogged) {
            backlog.beforeChange(share, contendedNow);
        }
    }

    private void afterChange(TenantShare share) {
        if (share.backlogged) {
            backlog.afterChange(share, contendedNow);
        }
    }

    private boolean fitsBesideReservations(ShareSettings settings, int n) {
        return Math.max(n, settings.reserved()) + reserved - settings.reserved() <= permits;
    }

    private static Claim headOf(TenantShare share) {
        return Objects.requireNonNull(share.queue.head(), "a backlogged tenant has a waiting claim");
    }

    // ---- time and housekeeping ----

    private void tick(long time) {
        long passed = time - now;
        if (passed > 0) {
            now = time;
            if (contended) {
                // More than that is a clock that stood still, as that of a machine that was suspended.
                contendedNow += Math.min(passed, largestSpan());
                rebaseWhenLarge();
            }
        }
    }

    /** For how long all permits together can be in flight until their accounts are large. */
    private long largestSpan() {
        return LARGEST_ACCOUNT / Math.max(permits, inFlight);
    }

    private void adjustHorizon() {
        if (!backlog.isEmpty()
                && horizon.isDue(now)
                && horizon.adjust(
                        now, (double) backlog.weightUnits(), (double) backlog.smallestWeightUnits(), permits)) {
            backlog.afterChangeOfAll(contendedNow, horizon.nanos());
        }
    }

    /** Who comes new is behind everybody, and so is lifted to the level when it joins. */
    private TenantShare newTenant(TenantId id) {
        TenantShare share =
                new TenantShare(id, ++ordinals, shares.of(id), shares.members().containsKey(id), contendedNow);
        share.setServed(-LARGEST_ACCOUNT, contendedNow);
        return share;
    }

    /** An idle tenant that is not ahead would come back at the level anyway, so forgetting it changes nothing. */
    private boolean forgetIfIdle(TenantShare share) {
        boolean forget = !share.configured
                && share.inFlight == 0
                && share.queue.isEmpty()
                && share.served(contendedNow) <= level() * share.weightUnits();
        if (forget) {
            tenants.remove(share.id);
        }
        return forget;
    }

    /** Tenants that were ahead when they became idle are forgotten when the level has caught up with them. */
    private void sweepWhenMany() {
        if (tenants.size() > sweepAbove) {
            List.copyOf(tenants.values()).forEach(this::forgetIfIdle);
            sweepAbove = Math.max(SWEEP_ABOVE, 2 * tenants.size());
        }
    }

    /** Before an account, or that of the heaviest tenant when it is lifted to the level, or the sum overflows. */
    private void rebaseWhenLarge() {
        double weights = Math.max(heaviest, backlog.weightUnits());
        if (Math.abs(level()) * weights > LARGEST_ACCOUNT || contendedNow - rebasedAt > largestSpan()) {
            rebase();
        }
    }

    /** Counts all accounts from the level on. Who is too far behind to be counted is lifted anyway when it joins. */
    private void rebase() {
        rebasedAt = contendedNow;
        double level = level();
        for (TenantShare share : tenants.values()) {
            double rebased = share.served(contendedNow) - level * share.weightUnits();
            share.setServed(Math.round(Math.min(Math.max(rebased, -LARGEST_ACCOUNT), LARGEST_ACCOUNT)), contendedNow);
        }
        idleLevel = 0;
        backlog.afterChangeOfAll(contendedNow, horizon.nanos());
    }

    private void requireNothingLent() {
        if (lent != 0) {
            throw new IllegalStateException("%d permits are lent (expected: 0)".formatted(lent));
        }
    }

    private static void requirePlace(Claim claim, Place expected) {
        if (claim.place != expected) {
            throw new IllegalStateException("claim is %s (expected: %s)".formatted(claim.place, expected));
        }
    }
}

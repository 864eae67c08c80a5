package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.ShareCalculator;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rules written down as naively as they read: every account is brought forward whenever time passes, every set is
 * searched for anew. It says who is to be granted next and requires the scheduler to have granted the same, in the same
 * order, and to keep the same accounts.
 *
 * <p>It shares nothing with the scheduler, so the last digits of a key may differ. Where two keys differ by no more
 * than that, either tenant may be next and the model follows, or gives up when it cannot see where to.
 *
 * <p>Over 250 lines because it writes down all rules once more, naively.
 */
final class BacklogModel implements PoolWatch {

    private static final double HORIZON_FOLLOWS = 0.05;

    private final PoolTrial trial;
    private final Map<TenantId, BacklogTenant> known = new LinkedHashMap<>();
    private final Map<TestClaim, Long> grantedAt = new LinkedHashMap<>();
    private int permits;
    private int cap = ShareSettings.UNBOUNDED;
    private TenantShares shares;
    private long now;
    private boolean contended;
    private long contendedNow;
    private double lastLevel;
    private double horizon;
    private double meanHold = Double.NaN;
    private long horizonSince = -1_000_000_000L;
    private @Nullable TestClaim pin;

    private long pins;
    private boolean othersWait;
    private long othersWaited;
    private boolean isOthersTurn;
    private long othersTurnEnds;
    private @Nullable BacklogTenant hadItsTurn;
    private final List<BacklogTenant> aside = new ArrayList<>();
    private boolean lost;
    private long tenantsSeen;
    private long grants;

    int grantsCompared;
    int turns;
    int timesFollowed;

    boolean isLost() {
        return lost;
    }

    BacklogModel(PoolTrial trial) {
        this.trial = trial;
        this.permits = trial.permits;
        this.shares = trial.shares;
        this.horizon =
                trial.pool.horizon().isZero() ? 100e6 : trial.pool.horizon().toNanos();
        reconfigured(shares);
    }

    // ---- what happens ----

    @Override
    public void passed(long nanos) {
        now += nanos;
        if (contended) {
            contendedNow += nanos;
            known.values().forEach(t -> t.served += (double) t.inFlight * nanos);
            othersWaited += othersWait ? nanos : 0;
        }
    }

    @Override
    public void arrived(TestClaim claim) {
        BacklogTenant tenant = known.computeIfAbsent(claim.tenant(), this::meet);
        if (isForgiven(tenant)) {
            tenant.served = Math.min(tenant.served, level() * tenant.weight());
        }
        tenant.queue.add(claim);
        joinOrLeave(tenant);
    }

    @Override
    public void cancelled(TestClaim claim) {
        takeOut(claim);
    }

    @Override
    public void released(TestClaim claim) {
        BacklogTenant tenant = tenantOf(claim);
        long hold = now - Objects.requireNonNull(grantedAt.remove(claim));
        double counted = Math.min((double) hold, Math.max(100e6, 32 * meanHold));
        meanHold = Double.isNaN(meanHold) ? hold : meanHold + HORIZON_FOLLOWS * (counted - meanHold);
        tenant.inFlight -= claim.permits();
        noteIdle(tenant);
        boundLag(tenant);
        aside.remove(tenant);
        joinOrLeave(tenant);
    }

    @Override
    public void resized(int permits) {
        this.permits = permits;
        forgetTurns();
        cap = calculatedCap();
        known.values().forEach(this::joinOrLeave);
    }

    @Override
    public void reconfigured(TenantShares shares) {
        this.shares = shares;
        forgetTurns();
        // Ordinals break ties between those who were never granted anything.
        shares.members().keySet().forEach(id -> known.computeIfAbsent(id, this::meet));
        double level = level();
        for (BacklogTenant tenant : known.values()) {
            double lag = level * tenant.weight() - tenant.served;
            tenant.settings = shares.of(tenant.id);
            tenant.served = level * tenant.weight() - lag;
        }
        cap = calculatedCap();
        known.values().forEach(this::joinOrLeave);
    }

    @Override
    public void handedOut(List<TestClaim> granted) {
        followHolds();
        if (cap != calculatedCap()) {
            cap = calculatedCap();
            known.values().forEach(this::joinOrLeave);
        }
        changeTurn();
        List<TestClaim> actual = new ArrayList<>(granted);
        TestClaim next = nextOrWhoFits(actual.isEmpty() ? null : actual.get(0));
        while (next != null && !lost) {
            if (next.wanted) {
                assertThat(actual)
                        .as("%s is next, at %d ns; known: %s", next, now, known.values())
                        .startsWith(next);
                actual.remove(0);
                give(tenantOf(next), next);
                pin = pin == next ? null : pin;
            }
            takeOut(next);
            next = nextOrWhoFits(actual.isEmpty() ? null : actual.get(0));
        }
        contended = !backlogged().isEmpty();
        othersWait = pin != null && backlogged().size() > 1;
        grantsCompared += granted.size();
        if (lost) {
            trial.stopWatching();
        } else {
            assertThat(actual)
                    .as("granted beyond what the rules allow; pinned: %s; known: %s", pin, known.values())
                    .isEmpty();
        }
    }

    @Override
    public void stepped() {
        new AccountCheck(trial.scheduler.status(trial.now), level(), pin == null ? 0 : pin.permits()).run();
    }

    // ---- the rules ----

    private List<BacklogTenant> backlogged() {
        return known.values().stream().filter(t -> t.backlogged).toList();
    }

    private double level() {
        List<BacklogTenant> backlogged = backlogged();
        return backlogged.isEmpty()
                ? lastLevel
                : backlogged.stream().mapToDouble(t -> t.served).sum() / weightOf(backlogged);
    }

    private static double weightOf(List<BacklogTenant> tenants) {
        return tenants.stream().mapToDouble(BacklogTenant::weight).sum();
    }

    private long available() {
        return permits
                - known.values().stream().mapToLong(BacklogTenant::occupied).sum();
    }

    private void takeOut(TestClaim claim) {
        BacklogTenant tenant = tenantOf(claim);
        if (pin == claim) {
            giveUp();
        }
        tenant.queue.remove(claim);
        aside.remove(tenant);
        noteIdle(tenant);
        joinOrLeave(tenant);
    }

    // ---- turns of who collects and who does not ----

    private void changeTurn() {
        if (pin != null && (double) othersWaited >= turn(pin)) {
            BacklogTenant collected = tenantOf(pin);
            giveUp();
            aside.add(collected);
            joinOrLeave(collected);
        } else if (isOthersTurn && now >= othersTurnEnds) {
            isOthersTurn = false;
            List<BacklogTenant> back = aside.stream()
                    .filter(t ->
                            Math.max(t.inFlight + t.asks(), t.settings.reserved()) + reservedByOthers(t) <= permits)
                    .toList();
            aside.removeAll(back);
            back.forEach(this::joinOrLeave);
            if (hadItsTurn != null && hadItsTurn.backlogged) {
                hadItsTurn.served += horizon;
                boundLag(hadItsTurn);
            }
        }
    }

    /** For as long as others waited nothing collects. */
    private void giveUp() {
        TestClaim claim = Objects.requireNonNull(pin);
        pin = null;
        double waited = Math.min((double) othersWaited, turn(claim));
        if (waited > 0 && Double.isFinite(turn(claim))) {
            turns++;
            isOthersTurn = true;
            othersTurnEnds = now + (long) waited;
            hadItsTurn = tenantOf(claim);
        }
    }

    private double turn(TestClaim claim) {
        BacklogTenant tenant = tenantOf(claim);
        boolean isGuaranteed = tenant.inFlight + claim.permits() <= tenant.settings.guaranteed();
        return isGuaranteed ? Double.POSITIVE_INFINITY : Math.floor(trial.pool.theta() * horizon);
    }

    private void forgetTurns() {
        pin = null;
        isOthersTurn = false;
        aside.clear();
    }

    private @Nullable TestClaim nextOrWhoFits(@Nullable TestClaim actual) {
        TestClaim next = next(actual);
        if (next != null || lost || !backlogged().isEmpty()) {
            return next;
        }
        for (BacklogTenant tenant : aside) {
            if (tenant.costs(tenant.asks()) <= available() && tenant.inFlight + tenant.asks() <= capOf(tenant)) {
                aside.remove(tenant);
                joinOrLeave(tenant);
                return next(actual);
            }
        }
        return null;
    }

    private void joinOrLeave(BacklogTenant tenant) {
        boolean competes = !tenant.queue.isEmpty()
                && !aside.contains(tenant)
                && tenant.inFlight + tenant.asks() <= capOf(tenant)
                && Math.max(tenant.asks(), tenant.settings.reserved()) + reservedByOthers(tenant) <= permits;
        if (competes && !tenant.backlogged) {
            tenant.served = Math.max(tenant.served, level() * tenant.weight());
            boundLag(tenant);
        } else if (!competes && tenant.backlogged) {
            lastLevel = level();
            tenant.backlogged = false;
            if (pin != null && pin.tenant().equals(tenant.id)) {
                giveUp();
            }
        }
        tenant.backlogged = competes;
        forget(tenant);
    }

    /** What each tenant may hold with so many active ones. */
    private int calculatedCap() {
        long active = known.values().stream().filter(t -> !t.isIdle()).count();
        ShareCalculator calculator = shares.calculator();
        return calculator == null
                ? ShareSettings.UNBOUNDED
                : calculator.maxInFlight(permits, Math.max(1, Math.min((int) active, permits)));
    }

    private int capOf(BacklogTenant tenant) {
        return Math.min(tenant.settings.maxInFlight(), Math.max(cap, tenant.settings.guaranteed()));
    }

    /** Idle, not configured, and owing nothing: it would come back at the level in any case. */
    private void forget(BacklogTenant tenant) {
        boolean idle = tenant.isIdle() && !shares.members().containsKey(tenant.id);
        double ahead = tenant.served - level() * tenant.weight();
        tenant.mayBeForgotten = idle && (isForgiven(tenant) || ahead <= tolerance(tenant));
        tenant.mustBeForgotten = idle && (isForgiven(tenant) || ahead < -tolerance(tenant));
    }

    /** Idle for twice the time in which others catch up with the largest lag: what it used before does not count. */
    private boolean isForgiven(BacklogTenant tenant) {
        return tenant.isIdle() && contendedNow - tenant.idleSince > 2 * trial.pool.theta() * horizon;
    }

    private void noteIdle(BacklogTenant tenant) {
        if (tenant.isIdle()) {
            tenant.idleSince = contendedNow;
        }
    }

    private double tolerance(BacklogTenant tenant) {
        return 1_000 + 1e-12 * (Math.abs(tenant.served) + Math.abs(level() * tenant.weight()));
    }

    private long reservedByOthers(BacklogTenant tenant) {
        return shares.reserved() - tenant.settings.reserved();
    }

    private void boundLag(BacklogTenant tenant) {
        double weights = Math.max(weightOf(backlogged()), tenant.weight());
        double bound = trial.pool.theta() * horizon * permits / weights;
        double level = level();
        double virtual = tenant.served / tenant.weight();
        if (virtual < level - bound) {
            tenant.served = (level - bound) * tenant.weight();
        } else if (virtual > level + bound) {
            tenant.served = (level + bound) * tenant.weight();
        }
    }

    private @Nullable TestClaim next(@Nullable TestClaim actual) {
        long available = available();
        List<BacklogTenant> own = backlogged().stream()
                .filter(t -> t.costs(t.asks()) == 0 && available >= 0)
                .toList();
        if (!own.isEmpty()) {
            return smallestKey(own, actual).queue.get(0);
        }
        BacklogTenant first = backlogged().stream()
                .filter(t -> t.inFlight < t.settings.guaranteed())
                .filter(t -> pin == null || (t.costs(t.asks()) <= available && t.mayPass(pins)))
                .min(BacklogTenant.SMALLEST_PART_OF_ITS_GUARANTEE)
                .orElse(null);
        if (first == null) {
            first = pin != null ? tenantOf(pin) : backlogged().isEmpty() ? null : smallestKey(backlogged(), actual);
        }
        if (first == null) {
            return null;
        }
        TestClaim head = first.queue.get(0);
        if (first.costs(head.permits()) <= available) {
            return head;
        }
        if (available <= 0) {
            return null;
        }
        if (isOthersTurn && Double.isFinite(turn(head))) {
            aside.add(first);
            joinOrLeave(first);
            return next(actual);
        }
        if (pin == null) {
            pin = head;
            pins++;
            othersWait = false;
            othersWaited = 0;
        }
        return null;
    }

    private BacklogTenant smallestKey(List<BacklogTenant> candidates, @Nullable TestClaim actual) {
        List<BacklogTenant.Key> keys =
                candidates.stream().map(t -> t.key(horizon)).sorted().toList();
        BacklogTenant.Key least = keys.get(0);
        List<BacklogTenant.Key> close =
                keys.stream().filter(key -> key.isCloseTo(least)).toList();
        if (close.size() > 1 && !BacklogTenant.Key.areCertain(close)) {
            List<TestClaim> heads =
                    close.stream().map(key -> key.tenant().queue.get(0)).toList();
            boolean mayStepAside = isOthersTurn
                    && close.stream()
                            .anyMatch(key -> key.tenant().costs(key.tenant().asks()) > available());
            if (actual != null
                    && !mayStepAside
                    && heads.contains(actual)
                    && heads.stream().allMatch(head -> head.wanted)) {
                timesFollowed++;
                return tenantOf(actual);
            }
            // Whom the scheduler forgot, pinned or put aside cannot be seen; without a permit to give it did none of
            // it.
            lost = available() > 0 || heads.stream().anyMatch(head -> !head.wanted);
        }
        return least.tenant();
    }

    private void give(BacklogTenant tenant, TestClaim claim) {
        if (pin != null
                && pin != claim
                && tenant.inFlight < tenant.settings.guaranteed()
                && tenant.costs(claim.permits()) > 0) {
            tenant.countPass(pins, claim.permits());
        }
        tenant.inFlight += claim.permits();
        boundLag(tenant);
        tenant.lastGrant = ++grants;
        grantedAt.put(claim, now);
    }

    /** Twice the mean hold, more when shares are below one permit; at most once a second and by more than a quarter. */
    private void followHolds() {
        boolean due = trial.pool.horizon().isZero() && !Double.isNaN(meanHold) && now - horizonSince >= 1_000_000_000L;
        if (due && !backlogged().isEmpty()) {
            horizonSince = now;
            double least = backlogged().stream()
                    .mapToDouble(BacklogTenant::weight)
                    .min()
                    .orElseThrow();
            double wanted = 2 * meanHold * Math.max(1, weightOf(backlogged()) / (permits * least));
            wanted = Math.max(100e6, Math.min(3600e9, wanted));
            // Whole nanoseconds, as the scheduler has it: a change by just a quarter is not rare.
            horizon = Math.abs(wanted - horizon) > horizon / 4 ? (double) Math.round(wanted) : horizon;
        }
    }

    /** Behind everybody, so that it is lifted to the level when it joins. */
    private BacklogTenant meet(TenantId id) {
        BacklogTenant tenant = new BacklogTenant(id, shares.of(id), ++tenantsSeen);
        tenant.served = -1e18;
        tenant.idleSince = contendedNow;
        return tenant;
    }

    private BacklogTenant tenantOf(TestClaim claim) {
        return Objects.requireNonNull(known.get(claim.tenant()), claim::toString);
    }

    /** Compares what the scheduler says of itself, and follows whom it forgets, when it may. */
    private final class AccountCheck {
        private final PoolStatus status;
        private final double level;
        private final int pinned;

        AccountCheck(PoolStatus status, double level, int pinned) {
            this.status = status;
            this.level = level;
            this.pinned = pinned;
        }

        void run() {
            Map<TenantId, TenantStatus> told =
                    status.tenants().stream().collect(Collectors.toMap(TenantStatus::tenant, t -> t));
            known.values()
                    .removeIf(tenant -> told.containsKey(tenant.id) ? tenant.mustBeForgotten : tenant.mayBeForgotten);
            assertThat(status.tenants())
                    .as("tenants known, in the order in which they came to be known")
                    .extracting(TenantStatus::tenant)
                    .containsExactlyElementsOf(known.keySet());
            assertThat(status.pinned()).as("permits that are pinned").isEqualTo(pinned);
            assertThat((double) status.horizon().toNanos()).as("horizon").isEqualTo(horizon);
            for (BacklogTenant tenant : known.values()) {
                double lag = level * tenant.weight() - tenant.served;
                double toldLag =
                        Objects.requireNonNull(told.get(tenant.id)).lag().toNanos();
                if (isForgiven(tenant)) {
                    assertThat(toldLag).as("lag of %s", tenant).isZero();
                    continue;
                }
                // Who is behind and does not compete is lifted to the level before it does: how far is no matter.
                double off = tenant.backlogged ? toldLag - lag : Math.min(toldLag, 0) - Math.min(lag, 0);
                assertThat(Math.abs(off)).as("lag of %s, off by", tenant).isLessThan(tolerance(tenant));
            }
        }
    }
}

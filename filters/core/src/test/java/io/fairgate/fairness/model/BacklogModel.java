package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.TestRequest;
import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A naive model of the rules: it updates every account whenever time passes, and searches every set again. It computes the next
 * grant, and requires that the scheduler grants the same requests in the same order and keeps the same accounts.
 *
 * <p>It shares nothing with the scheduler, so the last digits of a key may differ. If two keys differ only by rounding, either
 * tenant may be next, and the model follows the scheduler, or gives up if it cannot see the choice.
 */
final class BacklogModel implements PoolWatch {

    private static final double GAIN_FOLLOWS = 0.05;

    private final PoolTrial trial;
    private final Map<TenantId, BacklogTenant> known = new LinkedHashMap<>();
    private final Map<TestRequest, Long> grantedAt = new LinkedHashMap<>();
    private int permits;
    private int cap = ShareSettings.UNBOUNDED;
    private TenantShares shares;
    private long now;
    private boolean contended;
    private long contendedNow;
    private double lastLevel;
    private double gain;
    private double meanHold = Double.NaN;
    private long gainSince = -1_000_000_000L;

    /** The request for which permits are collected. */
    private @Nullable TestRequest collecting;

    private long collections;
    private boolean othersWait;
    private double othersWaited;
    private double idled;
    private final Map<TestRequest, Integer> failures = new LinkedHashMap<>();
    /** The permits in flight at the end of the last failed collection, without those released since. */
    private final List<TestRequest> stillHeld = new ArrayList<>();

    private final List<BacklogTenant> aside = new ArrayList<>();
    private boolean lost;
    private long tenantsSeen;
    private long grants;

    int grantsCompared;
    int failedCollections;
    int timesFollowed;

    boolean isLost() {
        return lost;
    }

    BacklogModel(PoolTrial trial) {
        this.trial = trial;
        this.permits = trial.permits;
        this.shares = trial.shares;
        this.gain = trial.pool.gain().isZero() ? 100e6 : trial.pool.gain().toNanos();
        reconfigured(shares);
    }

    // ---- events ----

    @Override
    public void passed(long nanos) {
        now += nanos;
        if (contended) {
            contendedNow += nanos;
            known.values().forEach(t -> t.served += (double) (t.inFlight + t.kept) * nanos);
            if (collecting != null && othersWait) {
                othersWaited += nanos;
                idled += (double) tenantOf(collecting).kept * nanos;
            }
        }
    }

    @Override
    public void arrived(TestRequest request) {
        BacklogTenant tenant = known.computeIfAbsent(request.tenant(), this::meet);
        if (isForgiven(tenant)) {
            tenant.served = Math.min(tenant.served, level() * tenant.weight());
        }
        tenant.queue.add(request);
        joinOrLeave(tenant);
    }

    @Override
    public void cancelled(TestRequest request) {
        takeOut(request);
    }

    @Override
    public void released(TestRequest request) {
        BacklogTenant tenant = tenantOf(request);
        long hold = now - Objects.requireNonNull(grantedAt.remove(request));
        meanHold = Double.isNaN(meanHold) ? hold : meanHold + GAIN_FOLLOWS * (hold - meanHold);
        tenant.inFlight -= request.permits();
        noteIdle(tenant);
        boundLag(tenant);
        if (stillHeld.remove(request) || shares.reserved() > 0) {
            List.copyOf(aside).stream().filter(this::fitsBesideWhatIsStillHeld).forEach(this::comeBack);
        }
        joinOrLeave(tenant);
    }

    @Override
    public void resized(int permits) {
        this.permits = permits;
        forgetCollections();
        cap = calculatedCap();
        known.values().forEach(this::joinOrLeave);
    }

    @Override
    public void reconfigured(TenantShares shares) {
        this.shares = shares;
        forgetCollections();
        // Ordinals break ties between tenants without a grant.
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
    public void handedOut(List<TestRequest> granted) {
        followHolds();
        if (cap != calculatedCap()) {
            cap = calculatedCap();
            known.values().forEach(this::joinOrLeave);
        }
        endCollection();
        List<TestRequest> actual = new ArrayList<>(granted);
        TestRequest next = nextOrWhoFits(actual.isEmpty() ? null : actual.get(0));
        while (next != null && !lost) {
            if (next.wanted) {
                assertThat(actual)
                        .as("%s is next, at %d ns; known: %s", next, now, known.values())
                        .startsWith(next);
                actual.remove(0);
                if (collecting == next) {
                    stop();
                }
                give(tenantOf(next), next);
            }
            takeOut(next);
            next = nextOrWhoFits(actual.isEmpty() ? null : actual.get(0));
        }
        contended = !backlogged().isEmpty();
        keepWhatIsFree();
        grantsCompared += granted.size();
        if (lost) {
            trial.stopWatching();
        } else {
            assertThat(actual)
                    .as("granted beyond what the rules allow; collects: %s; known: %s", collecting, known.values())
                    .isEmpty();
        }
    }

    @Override
    public void stepped() {
        new AccountCheck(trial.scheduler.status(trial.now), level(), collecting == null ? 0 : collecting.permits())
                .run();
    }

    // ---- the rules ----

    private List<BacklogTenant> backlogged() {
        return known.values().stream().filter(t -> t.backlogged).toList();
    }

    private double level() {
        return backlogged().isEmpty() ? lastLevel : level(backlogged());
    }

    private static double level(List<BacklogTenant> tenants) {
        List<BacklogTenant> byKey = tenants.stream().filter(t -> !t.servedFirst).toList();
        List<BacklogTenant> counted = byKey.isEmpty() ? tenants : byKey;
        return counted.stream().mapToDouble(t -> t.served).sum() / weightOf(counted);
    }

    private static double weightOf(List<BacklogTenant> tenants) {
        return tenants.stream().mapToDouble(BacklogTenant::weight).sum();
    }

    private long available() {
        return permits
                - known.values().stream().mapToLong(BacklogTenant::occupied).sum();
    }

    private void takeOut(TestRequest request) {
        BacklogTenant tenant = tenantOf(request);
        if (collecting == request) {
            fail();
        }
        tenant.queue.remove(request);
        aside.remove(tenant);
        noteIdle(tenant);
        joinOrLeave(tenant);
    }

    // ---- large requests ----

    private void endCollection() {
        TestRequest request = collecting;
        if (request != null && !isGuaranteed(request) && (idled >= budget(request) || othersWaited >= maxCollect())) {
            failures.merge(request, 1, Integer::sum);
            failedCollections++;
            fail();
            stillHeld.clear();
            stillHeld.addAll(grantedAt.keySet());
        }
    }

    private double maxCollect() {
        return trial.pool.settings().maxCollect().toNanos();
    }

    private double budget(TestRequest request) {
        double mean = Math.max(1e6, Double.isNaN(meanHold) ? 50e6 : meanHold);
        return 2 * mean * request.permits() * Math.pow(2, failures.getOrDefault(request, 0));
    }

    private boolean isGuaranteed(TestRequest request) {
        BacklogTenant tenant = tenantOf(request);
        return tenant.inFlight + request.permits() <= tenant.settings.guaranteed();
    }

    private void fail() {
        BacklogTenant tenant = tenantOf(Objects.requireNonNull(collecting));
        stop();
        if (othersWaited > 0) {
            List<BacklogTenant> others =
                    backlogged().stream().filter(t -> t != tenant).toList();
            if (!others.isEmpty()) {
                tenant.served = Math.max(tenant.served, level(others) * tenant.weight() + idled);
            }
        }
    }

    private void stop() {
        tenantOf(Objects.requireNonNull(collecting)).kept = 0;
        collecting = null;
    }

    private void keepWhatIsFree() {
        TestRequest request = collecting;
        if (request != null) {
            othersWait = backlogged().size() > 1;
            tenantOf(request).kept = (int) Math.max(0, Math.min(available(), request.permits()));
        }
    }

    private boolean fitsBesideWhatIsStillHeld(BacklogTenant tenant) {
        long inFlight = known.values().stream().mapToLong(t -> t.inFlight).sum();
        long held = stillHeld.stream().mapToLong(TestRequest::permits).sum();
        return tenant.queue.isEmpty() || tenant.costs(tenant.asks()) <= available() + inFlight - held;
    }

    private boolean mayCollect(TestRequest request) {
        return stillHeld.isEmpty()
                || isGuaranteed(request)
                || fitsBesideWhatIsStillHeld(tenantOf(request))
                || backlogged().size() == 1;
    }

    private void comeBack(BacklogTenant tenant) {
        aside.remove(tenant);
        joinOrLeave(tenant);
    }

    private void forgetCollections() {
        if (collecting != null) {
            stop();
        }
        stillHeld.clear();
        aside.clear();
    }

    private @Nullable TestRequest nextOrWhoFits(@Nullable TestRequest actual) {
        TestRequest next = next(actual);
        if (next != null || lost || !backlogged().isEmpty() || aside.isEmpty() || available() <= 0) {
            return next;
        }
        comeBack(aside.get(0));
        return next(actual);
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
            if (collecting != null && collecting.tenant().equals(tenant.id)) {
                tenant.backlogged = false;
                fail();
            }
        }
        tenant.backlogged = competes;
        forget(tenant);
    }

    /** The permits that each tenant may hold with this number of active tenants. */
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

    /** Idle, not configured, and without a debt: if it returned, it would start at the virtual time. */
    private void forget(BacklogTenant tenant) {
        boolean idle = tenant.isIdle() && !shares.members().containsKey(tenant.id);
        double ahead = tenant.served - level() * tenant.weight();
        tenant.mayBeForgotten = idle && (isForgiven(tenant) || ahead <= tolerance(tenant));
        tenant.mustBeForgotten = idle && (isForgiven(tenant) || ahead < -tolerance(tenant));
    }

    /** Idle for as long as debts are remembered. */
    private boolean isForgiven(BacklogTenant tenant) {
        return tenant.isIdle() && contendedNow - tenant.idleSince > memory();
    }

    private double memory() {
        return trial.pool.settings().memory().toNanos();
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
        double bound = memory() * permits / weights;
        double level = level();
        double virtual = tenant.served / tenant.weight();
        if (virtual < level - bound) {
            tenant.served = (level - bound) * tenant.weight();
        } else if (virtual > level + bound) {
            tenant.served = (level + bound) * tenant.weight();
        }
    }

    private @Nullable TestRequest next(@Nullable TestRequest actual) {
        long available = available();
        List<BacklogTenant> own = backlogged().stream()
                .filter(t -> t.costs(t.asks()) == 0 && available >= 0)
                .toList();
        if (!own.isEmpty()) {
            return smallestKey(own, actual).queue.get(0);
        }
        BacklogTenant first = backlogged().stream()
                .filter(t -> isGuaranteed(t.queue.get(0)))
                .filter(t -> collecting == null || (t.costs(t.asks()) <= available && t.mayPass(collections)))
                .min(BacklogTenant.SMALLEST_PART_OF_ITS_GUARANTEE)
                .orElse(null);
        if (first == null) {
            first = collecting != null
                    ? tenantOf(collecting)
                    : backlogged().isEmpty() ? null : smallestKey(backlogged(), actual);
        }
        if (first == null) {
            return null;
        }
        TestRequest head = first.queue.get(0);
        if (first.costs(head.permits()) <= available) {
            return head;
        }
        if (available <= 0) {
            return null;
        }
        if (!mayCollect(head)) {
            aside.add(first);
            joinOrLeave(first);
            return next(actual);
        }
        if (collecting == null) {
            collecting = head;
            collections++;
            othersWait = false;
            othersWaited = 0;
            idled = 0;
        }
        return null;
    }

    private BacklogTenant smallestKey(List<BacklogTenant> candidates, @Nullable TestRequest actual) {
        List<BacklogTenant.Key> keys =
                candidates.stream().map(t -> t.key(gain)).sorted().toList();
        BacklogTenant.Key least = keys.get(0);
        List<BacklogTenant.Key> close =
                keys.stream().filter(key -> key.isCloseTo(least)).toList();
        if (close.size() > 1 && !BacklogTenant.Key.areCertain(close)) {
            List<TestRequest> heads =
                    close.stream().map(key -> key.tenant().queue.get(0)).toList();
            boolean mayStepAside = !stillHeld.isEmpty()
                    && close.stream()
                            .anyMatch(key -> key.tenant().costs(key.tenant().asks()) > available());
            if (actual != null
                    && !mayStepAside
                    && heads.contains(actual)
                    && heads.stream().allMatch(head -> head.wanted)) {
                timesFollowed++;
                return tenantOf(actual);
            }
            // The model cannot see which tenants the scheduler forgot, collects for, or stopped collecting for.
            // Without a free permit it did none of these.
            lost = available() > 0 || heads.stream().anyMatch(head -> !head.wanted);
        }
        return least.tenant();
    }

    private void give(BacklogTenant tenant, TestRequest request) {
        boolean isFree = tenant.costs(request.permits()) == 0;
        boolean isPromised = isGuaranteed(request);
        if (collecting != null && collecting != request && isPromised && !isFree) {
            tenant.countPass(collections, request.permits());
        }
        tenant.servedFirst = isPromised || isFree;
        tenant.inFlight += request.permits();
        boundLag(tenant);
        tenant.lastGrant = ++grants;
        grantedAt.put(request, now);
    }

    /** Twice the mean hold; at most once a second and by more than a quarter. */
    private void followHolds() {
        boolean due = trial.pool.gain().isZero() && !Double.isNaN(meanHold) && now - gainSince >= 1_000_000_000L;
        if (due && !backlogged().isEmpty()) {
            gainSince = now;
            double wanted = Math.max(100e6, Math.min(3600e9, 2 * meanHold));
            // Whole nanoseconds, as in the scheduler: a change of exactly a quarter is not rare.
            gain = Math.abs(wanted - gain) > gain / 4 ? (double) Math.round(wanted) : gain;
        }
    }

    /** Behind all others, so that it is raised to the virtual time when it joins. */
    private BacklogTenant meet(TenantId id) {
        BacklogTenant tenant = new BacklogTenant(id, shares.of(id), ++tenantsSeen);
        tenant.served = -1e18;
        tenant.idleSince = contendedNow;
        return tenant;
    }

    private BacklogTenant tenantOf(TestRequest request) {
        return Objects.requireNonNull(known.get(request.tenant()), request::toString);
    }

    /** Compares the scheduler's status with the model, and follows when it forgets tenants as allowed. */
    private final class AccountCheck {
        private final PoolStatus status;
        private final double level;
        private final int collecting;

        AccountCheck(PoolStatus status, double level, int collecting) {
            this.status = status;
            this.level = level;
            this.collecting = collecting;
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
            assertThat(status.collecting())
                    .as("permits asked for by the request that is collected for")
                    .isEqualTo(collecting);
            assertThat((double) status.gain().toNanos()).as("gain").isEqualTo(gain);
            for (BacklogTenant tenant : known.values()) {
                double lag = level * tenant.weight() - tenant.served;
                double toldLag =
                        Objects.requireNonNull(told.get(tenant.id)).lag().toNanos();
                if (isForgiven(tenant)) {
                    assertThat(toldLag).as("lag of %s", tenant).isZero();
                    continue;
                }
                // The exact lag of a tenant that is behind and does not compete does not matter: it is raised later.
                double off = tenant.backlogged ? toldLag - lag : Math.min(toldLag, 0) - Math.min(lag, 0);
                assertThat(Math.abs(off)).as("lag of %s, off by", tenant).isLessThan(tolerance(tenant));
            }
        }
    }
}

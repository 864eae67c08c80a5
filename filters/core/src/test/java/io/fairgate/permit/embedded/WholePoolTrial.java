package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.model.RandomPool;
import io.fairgate.fairness.model.Step;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.SeededModel;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Sinks;

/**
 * Applies random steps to a whole pool, and keeps a sequential ledger of waiting and running requests from their signals. After
 * each step the ledger must obey the rules: no more permits are held than the pool or a cap allows, no more requests wait than
 * allowed, no request waits for free permits, and no request overtakes another of its tenant.
 */
final class WholePoolTrial implements SeededModel.Trial<Step> {

    private static final Duration MAX_WAIT = Duration.ofSeconds(20);

    private final RandomPool random;
    private final boolean quiet;
    private final int maxWaiting;
    private final TestTime time = new TestTime();
    private final EmbeddedPermitPool pool;
    private final List<Request> waiting = new ArrayList<>();
    private final List<Request> holding = new ArrayList<>();
    private final @Nullable PoolSlice slice;
    private TenantShares shares;
    private int permits;
    private int limit = Integer.MAX_VALUE;
    private boolean hasSliceEnded;
    private int requests;

    /** @param quiet whether requests hardly ever wait, so that the fast path is open most of the time */
    WholePoolTrial(RandomPool random, boolean quiet) {
        this.random = random;
        this.quiet = quiet;
        this.permits = random.permits();
        this.maxWaiting = (random.permits() + random.tenants()) % 2 == 0 ? 1_000 : random.tenants();
        this.shares = random.shares();
        this.pool = new EmbeddedPermitPool("trial", settings(), shares, time, PoolListener.NONE);
        this.slice = random.tenants() % 2 == 0 ? pool.share(() -> {}) : null;
        limit(random.permits());
    }

    private void limit(int most) {
        if (slice != null) {
            limit = most;
            int before = inFlight();
            assertThat(slice.limit(most, 0).block()).as("in flight").isEqualTo(before);
        }
    }

    private void endSlice(boolean ends) {
        if (slice != null) {
            hasSliceEnded = ends;
            slice.endsAt(ends ? time.now(TimeUnit.NANOSECONDS) : Long.MAX_VALUE);
        }
    }

    private int mayBeInFlight() {
        return Math.min(permits, limit);
    }

    private PoolSettings settings() {
        return PoolSettings.ofPermits(permits)
                .withMaxWaiting(maxWaiting)
                .withMaxWait(MAX_WAIT)
                .withMaxHold(PoolSettings.MAX_DURATION);
    }

    /** One request and its state. */
    private final class Request {
        final int number = requests++;
        final TenantId tenant;
        final int permits;
        final Sinks.Empty<Void> end = Sinks.empty();
        private @Nullable HeldPermits held;
        private @Nullable Disposable subscription;

        Request(TenantId tenant, int permits) {
            this.tenant = tenant;
            this.permits = permits;
        }

        private PermitRequest request() {
            return PermitRequest.of(tenant).withPermits(permits).withEventLoop(Runnable::run);
        }

        void ask() {
            waiting.add(this);
            subscription = pool.withPermit(
                            request(), end.asMono().doOnSubscribe(s -> start()).doOnCancel(() -> holding.remove(this)))
                    .subscribe(nothing -> {}, this::refused);
        }

        private void start() {
            assertThat(waiting).as("waits once").contains(this);
            assertThat(waiting)
                    .as("tenants whose first request is granted")
                    .filteredOn(other -> other.tenant.equals(tenant))
                    .first()
                    .isSameAs(this);
            waiting.remove(this);
            holding.add(this);
            assertNothingTooMuch(this);
        }

        private void refused(Throwable refusal) {
            assertThat(refusal)
                    .isInstanceOf(hasSliceEnded ? PoolUnavailableException.class : PermitRefusedException.class);
            assertThat(waiting.remove(this)).as("refused while it waited").isTrue();
        }

        /** Tries to take permits without waiting; without other threads in the pool a "no" is reliable. */
        void tryIt() {
            boolean fits = !hasSliceEnded && waiting.isEmpty() && competes(this) && cost(this) <= available();
            held = pool.tryAcquire(request());
            if (held != null) {
                holding.add(this);
                assertNothingTooMuch(this);
            }
            if (fits) {
                assertThat(held).as("free, and no request waits").isNotNull();
            }
        }

        void end() {
            holding.remove(this);
            if (held != null) {
                held.release();
                held.release();
            } else {
                end.tryEmitEmpty().orThrow();
            }
        }

        void leave() {
            waiting.remove(this);
            Objects.requireNonNull(subscription).dispose();
        }

        @Override
        public String toString() {
            return "#%d of %s, %d permits".formatted(number, tenant, permits);
        }
    }

    @Override
    public void apply(Step step) {
        time.advanceBy(
                Duration.ofNanos(Math.min(step.pause(), Duration.ofSeconds(5).toNanos())));
        switch (step.kind()) {
            case ARRIVE -> {
                Request request = new Request(RandomPool.tenant(step.tenant()), step.number());
                if (quiet && inFlight() >= permits && step.number() % 64 > 0) {
                    pick(holding, step.tenant(), Request::end);
                }
                if (step.grants()) {
                    request.ask();
                } else {
                    request.tryIt();
                }
            }
            case RELEASE -> pick(holding, step.number(), Request::end);
            case CANCEL -> pick(waiting, step.number(), Request::leave);
            case DECLINE -> pick(holding, step.number(), this::cutShort);
            case RESIZE -> {
                limit(step.tenant() % 3 == 0 ? step.number() - 1 : limit);
                endSlice(step.tenant() % 3 == 1 && !hasSliceEnded);
                permits = (int) Math.max(step.number(), shares.reserved());
                pool.reconfigure(settings(), shares).subscribe();
            }
            case RECONFIGURE -> {
                shares = step.number() % 4 == 0
                        ? RandomPool.shares(step.number(), permits, random.tenants())
                        : TenantShares.EQUAL;
                pool.reconfigure(settings(), shares).subscribe();
            }
            case WAIT -> assertStatus();
        }
        assertNoRequestWaitsForFreePermits();
    }

    private void cutShort(Request request) {
        if (request.held == null) {
            Objects.requireNonNull(request.subscription).dispose();
            assertThat(holding).doesNotContain(request);
        } else {
            request.end();
        }
    }

    private static void pick(List<Request> from, int index, java.util.function.Consumer<Request> action) {
        if (!from.isEmpty()) {
            action.accept(from.get(index % from.size()));
        }
    }

    @Override
    public void end() {
        assertStatus();
        while (!waiting.isEmpty()) {
            waiting.get(0).leave();
        }
        while (!holding.isEmpty()) {
            holding.get(0).end();
        }
        assertStatus();
        pool.close(Duration.ZERO).subscribe();
        assertThat(time.timersLeft()).as("timers left").isZero();
    }

    // ---- the rules ----

    private void assertStatus() {
        PoolStatus status = NothingLeft.statusOf(pool);
        assertThat(status.inFlight()).as("in flight").isEqualTo(inFlight());
        assertThat(status.waiting()).as("waiting").isEqualTo(waiting.size());
        status.tenants()
                .forEach(tenant -> assertThat(tenant.inFlight())
                        .as("in flight of %s", tenant.tenant())
                        .isEqualTo(inFlight(tenant.tenant())));
    }

    private void assertNothingTooMuch(Request granted) {
        assertThat(inFlight()).as("in flight after %s", granted).isLessThanOrEqualTo(mayBeInFlight());
        assertThat(hasSliceEnded).as("end of the slice before %s", granted).isFalse();
        int held = inFlight(granted.tenant);
        assertThat(held)
                .as("cap after %s", granted)
                .isLessThanOrEqualTo(shares.of(granted.tenant).maxInFlight());
        if (held > shares.of(granted.tenant).reserved()) {
            assertThat(available())
                    .as("left for reservations after %s", granted)
                    .isNotNegative();
        }
    }

    private void assertNoRequestWaitsForFreePermits() {
        assertThat(waiting).as("waiting").hasSizeLessThanOrEqualTo(hasSliceEnded ? 0 : maxWaiting);
        long available = available();
        Set<TenantId> seen = new LinkedHashSet<>();
        List<Request> heads =
                waiting.stream().filter(request -> seen.add(request.tenant)).toList();
        List<Request> fitting = heads.stream()
                .filter(head -> competes(head) && cost(head) <= available)
                .toList();
        if (!fitting.isEmpty() && available >= 0) {
            int collecting = NothingLeft.statusOf(pool).collecting();
            assertThat(heads)
                    .as("%s fit into %d, collected for one of %d", fitting, available, collecting)
                    .anyMatch(head -> head.permits == collecting && cost(head) > available);
        }
    }

    private int inFlight() {
        return holding.stream().mapToInt(request -> request.permits).sum();
    }

    private int inFlight(TenantId tenant) {
        return holding.stream()
                .filter(request -> request.tenant.equals(tenant))
                .mapToInt(request -> request.permits)
                .sum();
    }

    /** Permits that are neither held nor reserved for an idle tenant. */
    private long available() {
        Set<TenantId> tenants = new LinkedHashSet<>(shares.members().keySet());
        holding.forEach(request -> tenants.add(request.tenant));
        return mayBeInFlight()
                - tenants.stream()
                        .mapToLong(id -> Math.max(inFlight(id), shares.of(id).reserved()))
                        .sum();
    }

    private int cost(Request request) {
        int held = inFlight(request.tenant);
        int reserved = shares.of(request.tenant).reserved();
        return Math.max(held + request.permits, reserved) - Math.max(held, reserved);
    }

    private boolean competes(Request request) {
        ShareSettings settings = shares.of(request.tenant);
        long others = shares.reserved() - settings.reserved();
        return inFlight(request.tenant) + request.permits <= settings.maxInFlight()
                && Math.max(request.permits, settings.reserved()) + others <= permits;
    }
}

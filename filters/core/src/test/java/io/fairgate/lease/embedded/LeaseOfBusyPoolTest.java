package io.fairgate.lease.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.HeldBefore;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A pool in which another thread is at work: it grants what is free only when it has come round to it. */
class LeaseOfBusyPoolTest {

    private static final TenantId ACME = TenantId.of("acme");

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final EmbeddedPermitPool pool = nothingLeft.watch(
            new EmbeddedPermitPool("pool", PoolSettings.ofPermits(1), TenantShares.EQUAL, time, PoolListener.NONE));
    private final Busy busy = new Busy();
    private final Leases leases = new EmbeddedLeases(name -> busy, time, new FencingTokens(() -> Instant.EPOCH));

    @Test
    void a_call_that_cannot_wait_gets_what_is_free() {
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(ACME, "holder"), new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1)))
                .block();
        LeaseRequest one = LeaseRequest.of("pool", 1, Duration.ZERO, null);
        assertThat(leases.acquire(id, one).block()).isTrue();
        leases.release(id).block();
    }

    /** As when two calls with one key come at once, and the second overtakes the first on its way to the pool. */
    @Test
    void a_call_that_cannot_wait_and_comes_before_the_pool_was_asked_gets_what_is_free() {
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(ACME, "holder"), new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1)))
                .block();
        LeaseRequest one = LeaseRequest.of("pool", 1, Duration.ZERO, null);
        List<Boolean> second = new ArrayList<>();
        busy.beforeItIsAsked = () -> leases.acquire(id, one).subscribe(second::add);
        assertThat(leases.acquire(id, one).block()).isTrue();
        assertThat(second).containsExactly(true);
        leases.release(id).block();
    }

    @Test
    void a_restore_that_is_refused_when_its_lease_has_ended_leaves_the_next_one_with_its_id() {
        LeaseId id = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1));
        HeldBefore before = new HeldBefore(Map.of("pool", 1), Duration.ZERO, 1);
        List<Throwable> refused = new ArrayList<>();
        leases.restore(id, LeaseHolder.of(ACME, "holder"), term, before).subscribe(held -> {}, refused::add);
        leases.release(id).block();
        leases.open(id, LeaseHolder.of(ACME, "next"), term).block();
        busy.restored.tryEmitError(new IllegalStateException("refused"));
        assertThat(refused).hasSize(1);
        assertThat(leases.status(id).block()).as("the next lease").isNotNull();
        leases.release(id).block();
    }

    @Test
    void what_a_call_acquires_during_a_restore_stays_whatever_becomes_of_the_restore() {
        LeaseId id = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1));
        HeldBefore before = new HeldBefore(Map.of("pool", 1), Duration.ZERO, 1);
        LeaseRequest one = LeaseRequest.of("pool", 1, Duration.ZERO, null);
        List<Throwable> refused = new ArrayList<>();
        leases.restore(id, LeaseHolder.of(ACME, "holder"), term, before).subscribe(held -> {}, refused::add);
        assertThat(leases.acquire(id, one).block()).isTrue();
        busy.restored.tryEmitError(new IllegalStateException("refused"));
        assertThat(refused).hasSize(1);
        assertThat(leases.status(id).block())
                .isNotNull()
                .satisfies(lease -> assertThat(lease.held()).hasSize(1));
        assertThat(pool.inFlight().block()).isOne();
        leases.release(id).block();
        assertThat(pool.inFlight().block()).isZero();
    }

    @Test
    void a_restore_beside_a_call_that_acquires_gives_the_permits_once() {
        LeaseId id = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1));
        HeldBefore before = new HeldBefore(Map.of("pool", 1), Duration.ZERO, 1);
        LeaseRequest one = LeaseRequest.of("pool", 1, Duration.ZERO, null);
        var unused =
                leases.restore(id, LeaseHolder.of(ACME, "holder"), term, before).subscribe();
        assertThat(leases.acquire(id, one).block()).isTrue();
        busy.restored.tryEmitValue(
                Objects.requireNonNull(pool.restore(PermitRequest.of("globex")).block()));
        assertThat(leases.status(id).block())
                .isNotNull()
                .satisfies(lease -> assertThat(lease.held()).hasSize(1));
        assertThat(pool.inFlight().block()).isOne();
        leases.release(id).block();
        assertThat(pool.inFlight().block()).isZero();
    }

    @Test
    void permits_that_are_restored_when_the_lease_has_ended_come_back() {
        LeaseId id = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1));
        HeldBefore before = new HeldBefore(Map.of("pool", 1), Duration.ZERO, 1);
        leases.restore(id, LeaseHolder.of(ACME, "holder"), term, before).subscribe();
        leases.release(id).block();
        leases.open(id, LeaseHolder.of(ACME, "next"), term).block();
        busy.restored.tryEmitValue(Objects.requireNonNull(pool.tryAcquire(PermitRequest.of(ACME))));
        assertThat(pool.inFlight().block()).isZero();
        assertThat(leases.status(id).block())
                .isNotNull()
                .extracting(LeaseStatus::held)
                .isEqualTo(List.of());
        leases.release(id).block();
    }

    @Test
    void a_restore_that_was_cancelled_between_two_pools_may_be_repeated() {
        PermitPool free = nothingLeft.watch(
                new EmbeddedPermitPool("free", PoolSettings.ofPermits(2), TenantShares.EQUAL, time, PoolListener.NONE));
        Map<String, PermitPool> both = Map.of("free", free, "pool", busy);
        Leases ofBoth = new EmbeddedLeases(both::get, time, new FencingTokens(() -> Instant.EPOCH));
        LeaseId id = LeaseId.random();
        LeaseTerm term = new LeaseTerm(Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofMinutes(10));
        HeldBefore before = new HeldBefore(Map.of("free", 1, "pool", 1), Duration.ZERO, 1);
        Mono<Boolean> restore = ofBoth.restore(id, LeaseHolder.of(ACME, "holder"), term, before);
        Disposable cancelled = restore.subscribe();
        assertThat(free.inFlight().block()).isOne();
        cancelled.dispose();
        assertThat(free.inFlight().block()).isZero();
        List<Boolean> again = new ArrayList<>();
        var unused = restore.subscribe(again::add);
        busy.restored.tryEmitValue(Objects.requireNonNull(pool.tryAcquire(PermitRequest.of(ACME))));
        assertThat(again).containsExactly(true);
        ofBoth.release(id).block();
    }

    private final class Busy implements PermitPool {
        private final Sinks.One<HeldPermits> later = Sinks.one();
        private final Sinks.One<HeldPermits> restored = Sinks.one();
        private Runnable beforeItIsAsked = () -> {};

        @Override
        public String name() {
            return pool.name();
        }

        @Override
        public PoolSettings settings() {
            return pool.settings();
        }

        @Override
        public Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
            return pool.reconfigure(settings, shares);
        }

        @Override
        public <T> Mono<T> withPermit(PermitRequest request, Mono<T> work) {
            return pool.withPermit(request, work);
        }

        @Override
        public <T> Flux<T> withPermit(PermitRequest request, Flux<T> work) {
            return pool.withPermit(request, work);
        }

        @Override
        public @Nullable HeldPermits tryAcquire(PermitRequest request) {
            beforeItIsAsked.run();
            return null;
        }

        @Override
        public Mono<HeldPermits> acquire(PermitRequest request) {
            return later.asMono();
        }

        @Override
        public Mono<PoolTotals> totals() {
            return pool.totals().map(before -> {
                if (before.inFlight() == 0) {
                    later.tryEmitValue(Objects.requireNonNull(pool.tryAcquire(PermitRequest.of(ACME))));
                }
                return new PoolTotals(before.permits(), 1, before.waiting());
            });
        }

        @Override
        public Mono<TenantStanding> standing(TenantId tenant) {
            return pool.standing(tenant);
        }

        @Override
        public Mono<HeldPermits> restore(PermitRequest request) {
            return restored.asMono();
        }

        @Override
        public Mono<Boolean> couldGrant(TenantId tenant, int permits) {
            return pool.couldGrant(tenant, permits);
        }

        @Override
        public Mono<PoolStatus> snapshot() {
            return pool.snapshot();
        }

        @Override
        public Mono<Void> close(Duration patience) {
            return pool.close(patience);
        }
    }
}

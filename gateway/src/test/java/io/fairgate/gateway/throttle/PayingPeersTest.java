package io.fairgate.gateway.throttle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.throttle.Locks.Lock;
import io.fairgate.gateway.throttle.Locks.Patience;
import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.ForwardingScheduler;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/** The charges of locks, step by step on one thread, with events between two steps of a request. */
class PayingPeersTest {

    private static final PeerOwner ACME = new PeerOwner(LeaseHolder.of(TenantId.of("acme"), "throttle"), 1);
    private static final PeerId HOLDER = new PeerId(ACME, 1);
    private static final PeerId WAITING = new PeerId(ACME, 2);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final Interrupted interrupted = new Interrupted(time);
    private final EmbeddedPermitPool pool = nothingLeft.watch(
            new EmbeddedPermitPool("A", PoolSettings.ofPermits(1), TenantShares.EQUAL, time, PoolListener.NONE));
    private final Semaphore semaphore = new Semaphore(pool, 1, 0);
    private final Leases leases =
            new EmbeddedLeases(Map.of("A", pool)::get, interrupted, new FencingTokens(() -> Instant.EPOCH));
    private final Peers peers = new Peers(leases, TheseSemaphores.of(semaphore), ThrottleSettings.STANDARD);
    private final Locks locks = new Locks(peers, new RestoringPeers(leases), interrupted);

    private final AtomicInteger checked = new AtomicInteger();
    private final AtomicInteger charged = new AtomicInteger();
    private Mono<Void> payment = Mono.empty();
    private final Mono<Tenants.Charge> charge = Mono.fromSupplier(() -> {
        checked.incrementAndGet();
        return new Tenants.Charge(payment.doOnSubscribe(begun -> charged.incrementAndGet()));
    });

    /** Runs an event before the given reading of the clock; each step of the leases reads the clock once. */
    private static final class Interrupted extends ForwardingScheduler {
        private int looks;
        private Runnable what = () -> {};

        Interrupted(Scheduler time) {
            super(time);
        }

        void before(int step, Runnable happens) {
            looks = step;
            what = happens;
        }

        @Override
        public long now(TimeUnit unit) {
            if (--looks == 0) {
                what.run();
            }
            return super.now(unit);
        }
    }

    private CompletableFuture<Boolean> lock(PeerId peer) {
        return locks.acquire(peer, new Lock("A", 1), new Patience(null, Duration.ofSeconds(10)), charge)
                .toFuture();
    }

    private void open(PeerId peer) {
        assertThat(peers.open(peer, Duration.ofMinutes(5)).block()).isTrue();
    }

    @AfterEach
    void end() {
        leases.ids().concatMap(leases::release).blockLast();
    }

    @Test
    void a_lock_released_during_a_new_call_is_acquired_and_charged_again() {
        open(HOLDER);
        assertThat(lock(HOLDER)).isCompletedWithValue(true);
        // Steps: the clock for the patience, the check of the peer, the acquisition; before it the lock is released.
        interrupted.before(3, () -> peers.releaseLock(HOLDER, "A").block());
        assertThat(lock(HOLDER)).isCompletedWithValue(true);
        assertThat(charged).hasValue(2);
        assertThat(NothingLeft.statusOf(pool).inFlight()).isEqualTo(1);
    }

    @Test
    void a_call_for_a_lock_that_is_being_charged_gets_the_result() {
        open(HOLDER);
        Sinks.Empty<Void> journal = Sinks.empty();
        payment = journal.asMono();
        CompletableFuture<Boolean> first = lock(HOLDER);
        CompletableFuture<Boolean> again = lock(HOLDER);
        assertThat(first).isNotDone();
        assertThat(again).isNotDone();
        journal.tryEmitError(ThrottleError.QUOTA_USED_UP);
        for (CompletableFuture<Boolean> answer : List.of(first, again)) {
            assertThatThrownBy(answer::join).hasRootCauseMessage("The quota of this tenant is used up.");
        }
        assertThat(charged).hasValue(1);
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
    }

    @Test
    void a_repeated_wait_for_a_lock_granted_meanwhile_gets_the_result() {
        open(HOLDER);
        open(WAITING);
        assertThat(lock(HOLDER)).isCompletedWithValue(true);
        Sinks.Empty<Void> journal = Sinks.empty();
        payment = journal.asMono();
        CompletableFuture<Boolean> first = lock(WAITING);
        CompletableFuture<Boolean> again = lock(WAITING);
        assertThat(checked).as("a pending lock is not checked again").hasValue(2);
        peers.release(HOLDER).block();
        assertThat(first).isNotDone();
        assertThat(again).isNotDone();
        journal.tryEmitEmpty();
        assertThat(first).isCompletedWithValue(true);
        assertThat(again).isCompletedWithValue(true);
        assertThat(charged).hasValue(2);
    }
}

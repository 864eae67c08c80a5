package io.fairgate.lease.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.Leases;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Eight holders on threads of their own take leases of one tenant, give them back in every way, and look at the pool: what
 * they see is what a counting semaphore could have shown them.
 */
class LeaseHistoriesTest {

    private static final int HOLDERS = 8;
    private static final int HISTORIES = 1000;
    private static final int ROUNDS = 1;
    private static final int PERMITS = 3;
    private static final TenantId ACME = TenantId.of("acme");
    /** No request waits that long unless a permit is lost. */
    private static final Duration LONG = Duration.ofSeconds(20);

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
            "pool",
            PoolSettings.ofPermits(PERMITS),
            TenantShares.EQUAL,
            MonotonicScheduler.INSTANCE,
            PoolListener.NONE));
    private final Leases leases = new EmbeddedLeases(
            Map.of("pool", pool)::get, MonotonicScheduler.INSTANCE, new FencingTokens(InstantSource.system()));
    private final ExecutorService threads = Executors.newFixedThreadPool(HOLDERS);

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    @Test
    void eight_concurrent_holders_see_a_counting_semaphore() throws Exception {
        SplittableRandom random = new SplittableRandom(42);
        for (int i = 0; i < HISTORIES; i++) {
            CountingHistory history = new CountingHistory(PERMITS);
            CyclicBarrier start = new CyclicBarrier(HOLDERS);
            List<Callable<Void>> holders = new ArrayList<>();
            for (int holder = 0; holder < HOLDERS; holder++) {
                SplittableRandom own = random.split();
                holders.add(() -> {
                    start.await();
                    hold(history, own);
                    return null;
                });
            }
            for (Future<Void> holder : threads.invokeAll(holders)) {
                holder.get();
            }
            assertThat(history.isLinearizable())
                    .as(() -> "history %d:%n%s".formatted(history.hashCode(), history))
                    .isTrue();
            assertThat(leases.count().block()).isEqualTo(new LeaseCount(0, 0, 0));
        }
    }

    private void hold(CountingHistory history, SplittableRandom random) throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            int permits = 1 + random.nextInt(2);
            LeaseId id = LeaseId.random();
            leases.open(id, LeaseHolder.of(ACME, "holder"), new LeaseTerm(LONG, LONG))
                    .block();
            long taking = history.call();
            Boolean held = leases.acquire(id, LeaseRequest.of("pool", permits, LONG, LONG))
                    .toFuture()
                    .get(30, TimeUnit.SECONDS);
            assertThat(held).isTrue();
            history.took(taking, permits);
            if (random.nextInt(3) == 0) {
                long looking = history.call();
                history.saw(
                        looking,
                        pool.snapshot().toFuture().get(30, TimeUnit.SECONDS).inFlight());
            }
            if (random.nextInt(2) == 0) {
                leave(history);
            }
            long giving = history.call();
            giveBack(id, random.nextInt(3));
            history.gaveBack(giving, permits);
        }
    }

    /** Asks and leaves: it may have held a permit in between, or not. */
    private void leave(CountingHistory history) {
        LeaseId id = LeaseId.random();
        leases.open(id, LeaseHolder.of(ACME, "leaver"), new LeaseTerm(LONG, LONG))
                .block();
        long asking = history.call();
        var unused = leases.acquire(id, LeaseRequest.of("pool", 1, LONG, LONG)).subscribe(held -> {}, e -> {});
        leases.release(id).block();
        history.left(asking, 1);
    }

    private void giveBack(LeaseId id, int how) {
        switch (how) {
            case 0 -> assertThat(leases.release(id).block()).isTrue();
            case 1 -> assertThat(leases.extend(id, Duration.ZERO).block()).isZero();
            default -> {
                assertThat(leases.release(id, "pool").block()).isTrue();
                leases.release(id).block();
            }
        }
    }

    @Test
    void a_history_in_which_one_too_many_is_held_is_none_of_a_counting_semaphore() {
        CountingHistory one = new CountingHistory(1);
        long first = one.call();
        long second = one.call();
        one.took(first, 1);
        one.took(second, 1);
        assertThat(one.isLinearizable()).isFalse();

        CountingHistory overlapping = new CountingHistory(1);
        long taking = overlapping.call();
        overlapping.took(taking, 1);
        long giving = overlapping.call();
        long again = overlapping.call();
        overlapping.took(again, 1);
        overlapping.gaveBack(giving, 1);
        assertThat(overlapping.isLinearizable()).isTrue();

        CountingHistory stale = new CountingHistory(2);
        stale.took(stale.call(), 1);
        stale.saw(stale.call(), 0);
        assertThat(stale.isLinearizable()).isFalse();

        CountingHistory left = new CountingHistory(2);
        left.took(left.call(), 1);
        left.left(left.call(), 1);
        left.saw(left.call(), 1);
        left.saw(left.call(), 2);
        assertThat(left.isLinearizable()).isTrue();
        left.saw(left.call(), 0);
        assertThat(left.isLinearizable()).isFalse();
    }
}

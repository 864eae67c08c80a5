package io.fairgate.permit.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Hard cases that take many requests, or several threads. */
class PoolHardCasesTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    @Test
    void forgotten_tenants_that_return_on_many_threads_lose_nothing() throws Exception {
        EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
                "test", PoolSettings.ofPermits(2).withMaxWait(Duration.ofSeconds(60)), TenantShares.EQUAL));
        AtomicInteger done = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 5_000; i++) {
                    pool.withPermit(PermitRequest.of("t" + i % 3), Mono.fromCallable(done::incrementAndGet))
                            .block();
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(done).hasValue(20_000);
        assertThat(NothingLeft.statusOf(pool).tenants()).as("known and owing").hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void endless_new_ids_are_forgotten_in_a_contended_pool() {
        TestTime time = new TestTime();
        EmbeddedPermitPool pool = nothingLeft.watch(
                new EmbeddedPermitPool("test", PoolSettings.ofPermits(2), TenantShares.EQUAL, time, PoolListener.NONE));
        Queue<Sinks.Empty<Void>> holds = new ArrayDeque<>();
        int mostKnown = 0;
        for (int i = 0; i < 100_000; i++) {
            Sinks.Empty<Void> hold = Sinks.empty();
            holds.add(hold);
            pool.withPermit(PermitRequest.of("invented-" + i).withEventLoop(Runnable::run), hold.asMono())
                    .subscribe();
            if (holds.size() > 50) {
                time.advanceBy(Duration.ofMillis(1));
                holds.remove().tryEmitEmpty();
            }
            if (i % 100 == 0) {
                mostKnown =
                        Math.max(mostKnown, NothingLeft.statusOf(pool).tenants().size());
            }
        }
        holds.forEach(Sinks.Empty::tryEmitEmpty);
        // The 5,000 largest debts are kept; the others are removed when there are 5,000 more.
        assertThat(mostKnown).isBetween(5_000, 10_100);
    }

    @Test
    void many_cancellations_during_grants_leave_nothing_behind() throws Exception {
        int waiters = 100_000;
        Counts counts = new Counts();
        EmbeddedPermitPool pool = nothingLeft.watch(new EmbeddedPermitPool(
                "test",
                PoolSettings.ofPermits(8)
                        .withMaxWaiting(2 * waiters)
                        .withMaxWait(Duration.ofHours(1))
                        .withMaxHold(Duration.ofHours(1)),
                TenantShares.EQUAL.withMember(TenantId.of("t0"), ShareSettings.ofWeight(5)),
                MonotonicScheduler.INSTANCE,
                counts));
        Queue<Sinks.Empty<Void>> running = new ConcurrentLinkedQueue<>();
        Mono<Void> work = Mono.defer(() -> {
            Sinks.Empty<Void> end = Sinks.empty();
            running.add(end);
            return end.asMono();
        });
        List<Disposable> all = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            all.add(pool.withPermit(PermitRequest.of("t" + i % 7).withEventLoop(Runnable::run), work)
                    .subscribe());
        }
        Collections.shuffle(all, new Random(27));
        Thread[] leaving = {
            new Thread(() -> leave(all.subList(0, waiters / 2), counts)),
            new Thread(() -> leave(all.subList(waiters / 2, waiters), counts))
        };
        for (Thread thread : leaving) {
            thread.start();
        }
        while (leaving[0].isAlive() || leaving[1].isAlive() || !running.isEmpty()) {
            Sinks.Empty<Void> end = running.poll();
            if (end != null) {
                end.tryEmitEmpty();
            }
        }
        // Another thread may still process events; a snapshot comes after them.
        assertThat(NothingLeft.statusOf(pool).inFlight()).isZero();
        assertThat(counts.released).hasValue(counts.granted.get());
        assertThat(counts.granted.get() + counts.abandoned.get()).isEqualTo(waiters);
        assertThat(counts.granted).as("granted in the meantime").hasValueGreaterThan(100);
        assertThat(counts.abandoned).as("cancelled before their grant").hasValueGreaterThan(100);
    }

    /** Cancels one after another, and sometimes waits first until permits were released and granted. */
    private static void leave(List<Disposable> waiting, Counts counts) {
        for (int i = 0; i < waiting.size(); i++) {
            waiting.get(i).dispose();
            for (int spins = 0; counts.granted.get() < i / 400 && spins < 100_000; spins++) {
                Thread.onSpinWait();
            }
        }
    }

    private static final class Counts implements PoolListener {
        final AtomicInteger granted = new AtomicInteger();
        final AtomicInteger released = new AtomicInteger();
        final AtomicInteger abandoned = new AtomicInteger();

        @Override
        public void granted(PoolRequest request, long waitedNanos) {
            granted.incrementAndGet();
        }

        @Override
        public void released(PoolRequest request, long heldNanos) {
            released.incrementAndGet();
        }

        @Override
        public void abandoned(PoolRequest request, long waitedNanos) {
            abandoned.incrementAndGet();
        }
    }
}

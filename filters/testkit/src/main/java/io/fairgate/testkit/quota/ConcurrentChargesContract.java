package io.fairgate.testkit.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.OwnedQuota;
import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaSet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Charges and settlements by several threads at once: never more than the limit, and nothing gets lost. */
abstract class ConcurrentChargesContract extends QuotaTopic {

    private static final int THREADS = 4;
    private static final int EACH_THREAD = 1_000;

    ConcurrentChargesContract(QuotasBackend backend) {
        super(backend);
    }

    /** What one thread does, for the number of its call. */
    private interface Step {
        void run(int thread, int call);
    }

    private void concurrently(Step step) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            CyclicBarrier together = new CyclicBarrier(THREADS);
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int thread = i;
                running.add(threads.submit(() -> {
                    together.await();
                    for (int call = 0; call < EACH_THREAD; call++) {
                        step.run(thread, call);
                    }
                    return null;
                }));
            }
            for (Future<?> each : running) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void answerAll(AtomicInteger answers) {
        for (int i = 0; i < 1_000 && answers.get() < THREADS * EACH_THREAD; i++) {
            answer();
        }
        assertThat(answers).as("answers").hasValue(THREADS * EACH_THREAD);
    }

    @Test
    void charges_of_several_threads_together_get_the_limit_to_the_unit() throws Exception {
        OwnedQuota wide = enforced(ACME, total("wide", 1_000_000));
        OwnedQuota narrow = enforced(CORP, total("narrow", 2_500));
        // In opposite orders: a backend that takes locks as listed would come to a standstill.
        QuotaSet[] sets = {setOf(wide, narrow), setOf(narrow, wide)};
        AtomicLong passed = new AtomicLong();
        AtomicInteger answers = new AtomicInteger();
        concurrently((thread, call) -> quotas.newCharge(sets[thread % 2], 1 + call % 3)
                .charge()
                .subscribe(decision -> {
                    passed.addAndGet(decision.allowed() ? 1 + call % 3 : 0);
                    answers.incrementAndGet();
                }));
        answerAll(answers);
        assertThat(passed.get()).isBetween(2_500 - chargedAhead(2_500), 2_500L);
        giveBackUnused();
        assertRemaining(sets[0], 1_000_000 - passed.get(), 2_500 - passed.get());
    }

    @Test
    void settlements_that_cross_their_charges_leave_exactly_what_was_used() throws Exception {
        Quota prepaid = total("prepaid", 1_000_000);
        QuotaSet set = QuotaSet.of(TENANT, prepaid);
        AtomicInteger answers = new AtomicInteger();
        AtomicLong used = new AtomicLong();
        concurrently((thread, call) -> {
            QuotaCharge charge = quotas.newCharge(set, 5);
            if (call % 2 == 0) {
                charge.charge().subscribe(decision -> answers.incrementAndGet());
                charge.settle(0).subscribe();
            } else {
                used.addAndGet(7);
                charge.charge()
                        .flatMap(decision -> charge.settle(7).thenReturn(decision))
                        .subscribe(decision -> answers.incrementAndGet());
            }
        });
        answerAll(answers);
        answer();
        giveBackUnused();
        assertRemaining(set, 1_000_000L - used.get());
    }
}

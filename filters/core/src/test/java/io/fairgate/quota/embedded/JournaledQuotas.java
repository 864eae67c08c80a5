package io.fairgate.quota.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.journal.Deaf;
import io.fairgate.quota.journal.TestDisk;
import io.fairgate.quota.journal.UsageJournal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Embedded quotas with a journal on a test disk. A test decides when waiting charges continue after the write. */
final class JournaledQuotas {
    static final Quota.Calendar SHARED = new Quota.Calendar("shared", 1000, CalendarUnit.DAY, ZoneOffset.UTC);
    static final Duration LONGEST = Duration.ofSeconds(20);

    /** Units of these quotas that are recorded ahead of use. */
    static final int CHUNK = 10;

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    /** Charges that waited for the disk and can continue. */
    private final Queue<Runnable> back = new ConcurrentLinkedQueue<>();

    private volatile Instant wall = Instant.parse("2026-03-10T12:00:00Z");
    final TestDisk disk = new TestDisk();
    private final UsageJournal journal = new UsageJournal(disk, time, new Deaf());
    final EmbeddedQuotas quotas = on(Schedulers.fromExecutor(back::add));

    /** Quotas of the same journal, whose charges continue on this scheduler. */
    EmbeddedQuotas on(Scheduler scheduler) {
        return new EmbeddedQuotas(scheduler, () -> wall, journal);
    }

    void beginTheNextDay() {
        wall = Instant.parse("2026-03-11T00:00:00Z");
    }

    void close() {
        disk.goOn();
        journal.close();
    }

    /** A request with its charge, which may wait. */
    final class Request {
        final QuotaCharge charge;
        private final CompletableFuture<QuotaDecision> answer;

        private Request(QuotaSet set, long units) {
            charge = quotas.newCharge(set, units);
            answer = charge.charge().toFuture();
        }

        boolean waits() {
            return !answer.isDone();
        }

        boolean passes() {
            assertThat(waits()).isFalse();
            return answer.join().allowed();
        }

        void leave() {
            answer.cancel(true);
            charge.settle(0).block();
        }

        boolean hasLeft() {
            return answer.isCancelled();
        }
    }

    Request request(QuotaSet set, long units) {
        return new Request(set, units);
    }

    /** Waits for all writes, also for those that other writes cause. */
    void awaitWritten() {
        for (int i = 0; i < 3; i++) {
            journal.written().block(LONGEST);
        }
    }

    /** Lets all waiting charges continue, also those that must wait a second time. */
    void comeBack() {
        for (int i = 0; i < 3; i++) {
            awaitWritten();
            runAll();
        }
        awaitWritten();
    }

    void runAll() {
        for (Runnable next = back.poll(); next != null; next = back.poll()) {
            next.run();
        }
    }

    List<Long> used(QuotaSet set) {
        return used(quotas, set);
    }

    /** The usage of each quota that a process finds after a crash. */
    List<Long> usedAfterACrash(QuotaSet set) {
        try (UsageJournal next = new UsageJournal(disk.crash(), time, new Deaf())) {
            return used(new EmbeddedQuotas(time, () -> wall, next), set);
        }
    }

    /** A process finds after a crash the usage of each quota, and at most a chunk more. */
    void assertUsedAfterACrash(QuotaSet set, long used) {
        assertThat(usedAfterACrash(set)).allSatisfy(found -> assertThat(found).isBetween(used, used + CHUNK));
    }

    static List<Long> used(EmbeddedQuotas quotas, QuotaSet set) {
        return Objects.requireNonNull(quotas.balances(set).block()).stream()
                .map(balance -> balance.quota().limit() - balance.remaining())
                .toList();
    }
}

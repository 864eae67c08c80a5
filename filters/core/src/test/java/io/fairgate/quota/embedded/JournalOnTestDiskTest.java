package io.fairgate.quota.embedded;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaOwner;
import io.fairgate.quota.journal.TestDisk;
import io.fairgate.quota.Quota;
import io.fairgate.quota.journal.JournalListener;
import io.fairgate.quota.journal.JournalRecord;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.journal.UsageJournal;
import io.fairgate.quota.journal.UsageKey;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaDecision.Balance;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/**
 * A journal on a disk that hangs, fails and crashes as the test says; time is virtual.
 */
class JournalOnTestDiskTest {
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 1000, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota.Total SMALL = new Quota.Total("small", 100);
    private static final Quota.Total WIDE = new Quota.Total("wide", 1000);
    private static final int CHUNK = 10;
    private static final Duration LONGEST = Duration.ofSeconds(20);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final TestDisk disk = new TestDisk();
    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private volatile boolean isListenerBroken;

    private final JournalListener listener = new JournalListener() {
        @Override
        public void changed(@Nullable IOException failure) {
            fail();
        }

        @Override
        public void failed(IOException cause) {
            heard.add("failed");
            fail();
        }

        @Override
        public void recovered() {
            heard.add("recovered");
            fail();
        }

        @Override
        public void ranAhead(String what) {
            heard.add(what);
        }

        private void fail() {
            if (isListenerBroken) {
                throw new IllegalStateException("a broken listener");
            }
        }
    };

    private final UsageJournal journal = new UsageJournal(disk, time, listener);
    private final EmbeddedQuotas quotas = quotas(journal);

    private EmbeddedQuotas quotas(UsageJournal kept) {
        return new EmbeddedQuotas(time, () -> Instant.parse("2026-03-10T12:00:00Z"), kept);
    }

    @AfterEach
    void close() {
        disk.goOn();
        journal.close();
    }

    private CompletableFuture<QuotaDecision> charge(long units, Quota... asked) {
        return quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, asked), units)
                .charge()
                .toFuture();
    }

    private static boolean passes(CompletableFuture<QuotaDecision> charge) throws Exception {
        return charge.get(LONGEST.toSeconds(), TimeUnit.SECONDS).allowed();
    }

    private void awaitWritten() {
        journal.written().block(LONGEST);
    }

    /** The usage that a process finds after a crash. */
    private long usedAfterACrash(Quota quota) {
        try (UsageJournal next = new UsageJournal(disk.crash(), time, listener)) {
            Balance balance = Objects.requireNonNull(quotas(next)
                            .balances(QuotaSet.of(VirtualQuotas.ACME, quota))
                            .block())
                    .get(0);
            return quota.limit() - balance.remaining();
        }
    }

    @Test
    void a_hanging_disk_delays_one_request_by_a_second_and_later_requests_not_at_all() throws Exception {
        disk.hang();
        CompletableFuture<QuotaDecision> first = charge(1, DAILY);
        disk.awaitWrite();
        CompletableFuture<QuotaDecision> second = charge(5, SMALL);
        time.advanceTimeBy(UsageJournal.LONGEST_WRITE.minusMillis(1));
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();
        time.advanceTimeBy(Duration.ofMillis(1));
        assertThat(passes(first)).isTrue();
        assertThat(passes(second)).as("a request during the hang").isTrue();
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, DAILY);
        for (int i = 1; i < 1000; i++) {
            assertThat(Objects.requireNonNull(quotas.chargeNow(set, 1)).allowed())
                    .isTrue();
        }
        assertThat(Objects.requireNonNull(quotas.chargeNow(set, 1)).allowed())
                .as("counted in memory")
                .isFalse();
        assertThat(heard.poll(LONGEST.toSeconds(), TimeUnit.SECONDS)).isEqualTo("failed");
    }

    @Test
    void a_disk_that_recovers_gets_all_usage_of_the_meantime() throws Exception {
        disk.hang();
        CompletableFuture<QuotaDecision> first = charge(1, DAILY);
        disk.awaitWrite();
        time.advanceTimeBy(UsageJournal.LONGEST_WRITE);
        assertThat(passes(first)).isTrue();
        assertThat(passes(charge(700, DAILY))).isTrue();
        assertThat(passes(charge(50, SMALL))).isTrue();
        disk.goOn();
        assertThat(heard.poll(LONGEST.toSeconds(), TimeUnit.SECONDS)).isEqualTo("failed");
        assertThat(heard.poll(LONGEST.toSeconds(), TimeUnit.SECONDS)).isEqualTo("recovered");
        awaitWritten();
        assertThat(usedAfterACrash(DAILY)).isBetween(701L, 701L + CHUNK);
        assertThat(usedAfterACrash(SMALL)).isBetween(50L, 51L);

        disk.hang();
        CompletableFuture<QuotaDecision> waits = charge(200, DAILY);
        disk.awaitWrite();
        assertThat(waits).as("waits for the disk again").isNotDone();
        disk.goOn();
        assertThat(passes(waits)).isTrue();
        awaitWritten();
        time.advanceTimeBy(LONGEST);
        assertThat(heard).as("the disk returned in time").isEmpty();
    }

    @Test
    void what_a_failed_write_lost_is_written_with_the_next_record() throws Exception {
        disk.failWith(new IOException("No space left on device"));
        assertThat(passes(charge(300, DAILY))).isTrue();
        awaitWritten();
        assertThat(usedAfterACrash(DAILY)).isZero();
        disk.failWith(null);
        assertThat(passes(charge(1, SMALL))).isTrue();
        assertThat(usedAfterACrash(DAILY)).isBetween(300L, 300L + CHUNK);
        journal.close();
        assertThat(heard).containsExactly("failed", "recovered");
    }

    @ParameterizedTest
    @ValueSource(classes = {IllegalStateException.class, OutOfMemoryError.class})
    void an_unexpected_error_of_the_store_does_not_end_the_journal(Class<? extends Throwable> bug) throws Exception {
        disk.failWith(bug.getConstructor().newInstance());
        assertThat(passes(charge(1, DAILY))).isTrue();
        disk.failWith(null);
        assertThat(passes(charge(500, DAILY))).isTrue();
        journal.close();
        assertThat(usedAfterACrash(DAILY)).isBetween(501L, 501L + CHUNK);
        assertThat(heard).containsExactly("failed", "recovered");
    }

    @Test
    void a_broken_listener_does_not_end_the_journal_and_its_error_is_reported() throws Exception {
        List<Throwable> dropped = new CopyOnWriteArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            isListenerBroken = true;
            disk.failWith(new IOException("No space left on device"));
            assertThat(passes(charge(1, DAILY))).isTrue();
            disk.failWith(null);
            assertThat(passes(charge(500, DAILY))).isTrue();
            journal.close();
        } finally {
            Hooks.resetOnErrorDropped();
        }
        assertThat(heard).containsExactly("failed", "recovered");
        assertThat(dropped).hasSize(4).extracting(Throwable::getMessage).containsOnly("a broken listener");
        assertThat(usedAfterACrash(DAILY)).isBetween(501L, 501L + CHUNK);
    }

    @Test
    void many_requests_share_two_disk_accesses_and_leave_at_most_a_chunk_ahead() throws Exception {
        disk.hang();
        List<CompletableFuture<QuotaDecision>> crowd = new ArrayList<>();
        crowd.add(charge(1, SMALL));
        disk.awaitWrite();
        for (int i = 1; i < 60; i++) {
            crowd.add(charge(1, SMALL));
        }
        disk.goOn();
        for (CompletableFuture<QuotaDecision> each : crowd) {
            assertThat(passes(each)).isTrue();
        }
        awaitWritten();
        assertThat(disk.writes()).isLessThanOrEqualTo(3);
        assertThat(usedAfterACrash(SMALL)).isBetween(60L, 61L);
        for (int i = 60; i < 140; i++) {
            assertThat(passes(charge(1, SMALL))).isEqualTo(i < 100);
        }
        assertThat(usedAfterACrash(SMALL)).isEqualTo(100);
    }

    @Test
    void many_requests_record_no_more_than_the_limit() throws Exception {
        disk.hang();
        List<CompletableFuture<QuotaDecision>> crowd = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            crowd.add(charge(2, SMALL));
        }
        disk.awaitWrite();
        disk.goOn();
        int passed = 0;
        for (CompletableFuture<QuotaDecision> each : crowd) {
            passed += passes(each) ? 1 : 0;
        }
        assertThat(passed).isEqualTo(50);
        awaitWritten();
        assertThat(disk.live().values()).extracting(JournalRecord::used).containsExactly(100L);
    }

    @Test
    void sequential_requests_wait_only_at_the_beginning_of_a_small_limit() throws Exception {
        assertThat(passes(charge(1, SMALL))).isTrue();
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, SMALL);
        for (int i = 1; i < 100; i++) {
            awaitWritten();
            assertThat(quotas.chargeNow(set, 1)).as("request %d", i).isNotNull();
            assertThat(usedAfterACrash(SMALL)).isBetween(i + 1L, Math.min(100, i + 2L));
        }
    }

    @Test
    void a_window_takes_about_two_hundred_disk_accesses_for_any_limit() throws Exception {
        Quota.Total wide = new Quota.Total("wide", 1_000_000);
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, wide);
        for (int i = 0; i < 10_000; i++) {
            if (quotas.chargeNow(set, 100) == null) {
                assertThat(passes(charge(100, wide))).isTrue();
            }
            awaitWritten();
        }
        assertThat(quotas.checkNow(set, 1).allowed()).isFalse();
        assertThat(disk.writes()).isBetween(150, 210);
    }

    @Test
    void small_requests_do_not_use_units_recorded_for_a_large_one() {
        QuotaOwner acme = QuotaOwner.tenant(VirtualQuotas.ACME);
        Account account = new Account(acme, journal);
        JournaledUsage usage = new JournaledUsage(journal, UsageKey.of(acme, WIDE), account);
        synchronized (account) {
            assertThat(waits(usage, WIDE, 600)).isTrue();
        }
        awaitWritten();
        synchronized (account) {
            for (int used = 0; used < 2; used++) {
                assertThat(isCovered(usage, WIDE, 1)).isTrue();
                usage.charge(1);
            }
            assertThat(isCovered(usage, WIDE, 600)).isTrue();
        }
    }

    private static boolean isCovered(JournaledUsage usage, Quota.Total quota, long units) {
        assertThat(usage.passes(quota, units, new ClockReading())).isTrue();
        return usage.isCovered(quota, units);
    }

    /** A request that is not covered by the recorded units: whether it waits. */
    private static boolean waits(JournaledUsage usage, Quota.Total quota, long units) {
        boolean waits = !isCovered(usage, quota, units);
        usage.await(units);
        usage.follow();
        return waits;
    }

    @Test
    void a_record_is_not_followed_by_a_lower_one_while_its_units_are_in_use() throws Exception {
        QuotaOwner acme = QuotaOwner.tenant(VirtualQuotas.ACME);
        Account account = new Account(acme, journal);
        JournaledUsage usage = new JournaledUsage(journal, UsageKey.of(acme, SMALL), account);
        disk.hang();
        synchronized (account) {
            assertThat(waits(usage, SMALL, 50)).isTrue();
            assertThat(waits(usage, SMALL, 20)).isTrue();
        }
        disk.letOneGoOn();
        boolean isGiven = false;
        while (!isGiven) {
            synchronized (account) {
                isGiven = isCovered(usage, SMALL, 50);
            }
        }
        synchronized (account) {
            usage.await(-50);
            usage.charge(50);
        }
        CompletableFuture<Void> written = journal.written().toFuture();
        disk.letOneGoOn();
        while (!written.isDone() && disk.writes() < 3) {
            Thread.onSpinWait();
        }
        assertThat(usedOnDisk()).isGreaterThanOrEqualTo(50);
    }

    @Test
    void a_usage_of_an_earlier_process_keeps_its_record_before_its_first_decision() throws Exception {
        assertThat(passes(charge(50, SMALL))).isTrue();
        awaitWritten();
        QuotaOwner acme = QuotaOwner.tenant(VirtualQuotas.ACME);
        Account account = new Account(acme, journal);
        JournaledUsage found = new JournaledUsage(journal, UsageKey.of(acme, SMALL), account);
        synchronized (account) {
            found.follow();
        }
        awaitWritten();
        assertThat(usedOnDisk()).isGreaterThanOrEqualTo(50);
    }

    private long usedOnDisk() {
        return disk.live().values().stream().mapToLong(JournalRecord::used).sum();
    }

    @Test
    void admitted_units_are_always_on_the_disk() {
        Quota.Total prepaid = new Quota.Total("prepaid", 15_000);
        AtomicLong given = new AtomicLong();
        Long ahead = Flux.range(0, 10_000)
                .flatMap(
                        i -> quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, prepaid), 1 + i % 3)
                                .charge()
                                .subscribeOn(Schedulers.parallel())
                                .map(decision -> given.addAndGet(decision.allowed() ? 1 + i % 3 : 0) > usedOnDisk()),
                        500)
                .filter(isAhead -> isAhead)
                .count()
                .block(LONGEST);
        assertThat(ahead).isZero();
        assertThat(given).hasValue(15_000);
    }

    @Test
    void a_debt_during_a_write_is_recorded_by_the_next_write() throws Exception {
        QuotaCharge charge = quotas.newCharge(QuotaSet.of(VirtualQuotas.ACME, DAILY), 1);
        assertThat(passes(charge.charge().toFuture())).isTrue();
        disk.hang();
        assertThat(passes(charge(7, DAILY))).as("asks for the next chunk").isTrue();
        disk.awaitWrite();
        charge.settle(700).block();
        disk.goOn();
        awaitWritten();
        awaitWritten();
        assertThat(usedAfterACrash(DAILY)).isBetween(707L, 707L + CHUNK);
    }

    @Test
    void close_waits_for_the_pending_write() throws Exception {
        assertThat(passes(charge(7, DAILY))).isTrue();
        disk.hang();
        quotas.writeExactly();
        disk.awaitWrite();
        CompletableFuture<Void> end = CompletableFuture.runAsync(journal::close);
        // A call of written() now is answered only because the journal is being closed.
        while (!end.isDone() && !journal.written().toFuture().isDone()) {
            Thread.onSpinWait();
        }
        assertThat(end).isNotDone();
        assertThat(disk.isClosed()).isFalse();
        disk.goOn();
        end.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
        assertThat(disk.isClosed()).isTrue();
        assertThat(usedAfterACrash(DAILY)).isEqualTo(7);
    }

    @Test
    void close_writes_the_exact_usage_and_closes_the_file_once() throws Exception {
        assertThat(passes(charge(7, DAILY))).isTrue();
        disk.hang();
        CompletableFuture<QuotaDecision> waits = charge(20, DAILY);
        disk.awaitWrite();
        quotas.writeExactly();
        disk.goOn();
        assertThat(passes(waits)).isTrue();
        awaitWritten();
        assertThat(usedAfterACrash(DAILY)).isBetween(27L, 27L + CHUNK);
        quotas.writeExactly();
        journal.close();
        journal.close();
        assertThat(disk.isClosed()).isTrue();
        assertThat(usedAfterACrash(DAILY)).isEqualTo(27);
        int writes = disk.writes();
        assertThat(passes(charge(100, DAILY))).as("a later request").isTrue();
        journal.written().block(LONGEST);
        assertThat(disk.writes()).isEqualTo(writes);
    }

    @Test
    void a_charge_during_a_close_is_answered() throws Exception {
        for (int i = 0; i < 500; i++) {
            UsageJournal closing = new UsageJournal(new TestDisk(), time, listener);
            List<CompletableFuture<Void>> asked = new ArrayList<>();
            CountDownLatch together = new CountDownLatch(1);
            Thread closer = new Thread(() -> {
                together.countDown();
                closing.close();
            });
            closer.start();
            together.await();
            while (closer.isAlive()) {
                asked.add(closing.written().toFuture());
            }
            for (CompletableFuture<Void> each : asked) {
                each.get(LONGEST.toSeconds(), TimeUnit.SECONDS);
            }
        }
        assertThat(heard).isEmpty();
    }
}

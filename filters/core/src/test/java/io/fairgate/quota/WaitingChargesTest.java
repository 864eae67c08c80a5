package io.fairgate.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.tenant.TenantId;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Charges that wait for the disk, and what becomes of what is written for them when they come back or leave. */
class WaitingChargesTest {
    private static final Quota.Calendar SHARED = new Quota.Calendar("shared", 1000, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota.Total OWN = new Quota.Total("own", 900);
    private static final int CHUNK = 10;
    private static final Duration LONGEST = Duration.ofSeconds(20);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    /** Who waited for the disk and is to come back. */
    private final Queue<Runnable> back = new ConcurrentLinkedQueue<>();

    private final TestDisk disk = new TestDisk();
    private final UsageJournal journal = new UsageJournal(disk, null, time, new Deaf());
    private volatile Instant wall = Instant.parse("2026-03-10T12:00:00Z");
    private final EmbeddedQuotas quotas = new EmbeddedQuotas(Schedulers.fromExecutor(back::add), () -> wall, journal);
    private final QuotaSet acme = inOrganisation("acme");

    private static final class Deaf implements JournalListener {
        @Override
        public void changed(@Nullable IOException failure) {}

        @Override
        public void failed(IOException cause) {}

        @Override
        public void recovered() {}

        @Override
        public void ranAhead(String what) {}
    }

    /** A tenant's own quota, and one that its organisation shares. */
    private static QuotaSet inOrganisation(String tenant) {
        return QuotaSet.of(List.of(
                new OwnedQuota(QuotaOwner.tenant(TenantId.of(tenant)), OWN, true),
                new OwnedQuota(QuotaOwner.group("org"), SHARED, true)));
    }

    @AfterEach
    void close() {
        disk.goOn();
        journal.close();
    }

    /** A request that is charged, and waits for that if need be. */
    private final class Request {
        private final QuotaCharge charge;
        private final CompletableFuture<QuotaDecision> answer;

        Request(QuotaSet set, long units) {
            charge = new QuotaCharge(set, units);
            answer = quotas.charge(charge).toFuture();
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
            quotas.settle(charge, 0).block();
        }
    }

    /** All of them wait: who comes when the first chunk is there may pass at once. */
    private List<Request> waitingCrowd(int size) {
        disk.hang();
        List<Request> crowd = crowd(size);
        disk.goOn();
        return crowd;
    }

    private List<Request> crowd(int size) {
        return IntStream.range(0, size).mapToObj(i -> new Request(acme, 1)).toList();
    }

    /** Also what is asked for when something else has been written. */
    private void awaitWritten() {
        for (int i = 0; i < 3; i++) {
            journal.written().block(LONGEST);
        }
    }

    /** All come back that wait for what has been asked for, also those who have to wait once more. */
    private void comeBack() {
        for (int i = 0; i < 3; i++) {
            awaitWritten();
            runAll();
        }
        awaitWritten();
    }

    private void runAll() {
        for (Runnable next = back.poll(); next != null; next = back.poll()) {
            next.run();
        }
    }

    /** What a process finds of each quota that starts after a crash. */
    private List<Long> usedAfterACrash(QuotaSet set) {
        try (UsageJournal next = new UsageJournal(disk.crash(), null, time, new Deaf())) {
            return used(new EmbeddedQuotas(time, () -> wall, next), set);
        }
    }

    private static List<Long> used(EmbeddedQuotas quotas, QuotaSet set) {
        return Objects.requireNonNull(quotas.balances(set).block()).stream()
                .map(balance -> balance.quota().limit() - balance.remaining())
                .toList();
    }

    @Test
    void a_crowd_that_leaves_while_it_is_written_for_takes_no_more_than_a_chunk() throws Exception {
        disk.hang();
        Request first = new Request(acme, 1);
        disk.awaitWrite();
        crowd(800).forEach(Request::leave);
        disk.goOn();
        comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used <= 1 + CHUNK);
    }

    @Test
    void a_crowd_that_leaves_after_it_was_written_for_takes_no_more_than_a_chunk() {
        List<Request> crowd = waitingCrowd(800);
        awaitWritten();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used >= 800 && used <= 800 + CHUNK);
        crowd.forEach(Request::leave);
        comeBack();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used <= CHUNK);
    }

    @Test
    void a_crowd_that_leaves_again_and_again_leaves_all_to_the_others() {
        for (int i = 0; i < 20; i++) {
            waitingCrowd(100).forEach(Request::leave);
            comeBack();
        }
        assertThat(usedAfterACrash(acme)).allMatch(used -> used <= CHUNK);
        Request other = new Request(inOrganisation("globex"), 900);
        comeBack();
        assertThat(other.passes()).isTrue();
    }

    @Test
    void who_stays_is_written_for_whoever_leaves() {
        List<Request> crowd = waitingCrowd(800);
        awaitWritten();
        IntStream.range(0, 800)
                .filter(i -> i % 2 == 0)
                .forEach(i -> crowd.get(i).leave());
        awaitWritten();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used >= 400 && used <= 400 + CHUNK);
        int writes = disk.writes();
        runAll();
        assertThat(crowd).filteredOn(request -> !request.answer.isCancelled()).allMatch(Request::passes);
        assertThat(disk.writes()).as("nobody waited once more").isEqualTo(writes);
        awaitWritten();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used >= 400 && used <= 400 + CHUNK);
    }

    @Test
    void who_comes_later_and_uses_what_was_written_for_others_has_more_of_it_written() {
        List<Request> crowd = waitingCrowd(100);
        awaitWritten();
        for (int i = 0; i < CHUNK - 2; i++) {
            assertThat(new Request(acme, 1).passes()).isTrue();
        }
        awaitWritten();
        runAll();
        assertThat(crowd).as("nobody waits once more").allMatch(Request::passes);
    }

    @Test
    void what_was_written_for_a_request_that_is_refused_in_the_end_is_taken_back() {
        Request first = new Request(acme, 500);
        Request second = new Request(acme, 600);
        comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(second.passes()).isFalse();
        assertThat(usedAfterACrash(acme)).allMatch(used -> used >= 500 && used <= 500 + CHUNK);
    }

    @Test
    void a_request_that_waits_for_one_quota_keeps_what_is_written_of_the_others() {
        QuotaSet both = QuotaSet.of(VirtualQuotas.ACME, SHARED, OWN);
        QuotaSet one = QuotaSet.of(VirtualQuotas.ACME, SHARED);
        Request large = new Request(one, 500);
        awaitWritten();
        large.leave();
        Request waits = new Request(both, 5);
        awaitWritten();
        Request covered = new Request(one, 7);
        assertThat(waits.waits()).isTrue();
        comeBack();
        assertThat(covered.passes()).isTrue();
        assertThat(waits.passes()).isTrue();
        assertThat(usedAfterACrash(both))
                .satisfiesExactly(
                        shared -> assertThat(shared).isBetween(12L, 12L + CHUNK),
                        own -> assertThat(own).isBetween(5L, 5L + CHUNK));
    }

    @Test
    void a_charge_that_was_settled_while_it_waited_is_answered_and_not_made() {
        Request request = new Request(acme, 50);
        quotas.settle(request.charge, 50).block();
        comeBack();
        assertThat(request.passes()).isTrue();
        assertThat(used(quotas, acme)).containsExactly(0L, 0L);
        assertThat(usedAfterACrash(acme)).allMatch(used -> used <= CHUNK);
    }

    @Test
    void at_every_moment_what_was_given_is_on_the_disk_although_half_of_the_crowd_leaves() {
        EmbeddedQuotas atOnce = new EmbeddedQuotas(Schedulers.parallel(), () -> wall, journal);
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, new Quota.Total("prepaid", 15_000));
        AtomicLong given = new AtomicLong();
        Long ahead = Flux.range(0, 10_000)
                .flatMap(
                        i -> {
                            QuotaCharge charge = new QuotaCharge(set, 1 + i % 3);
                            Mono<QuotaDecision> answer = atOnce.charge(charge).subscribeOn(Schedulers.parallel());
                            if (i % 2 == 0) {
                                return answer.map(decision -> given.addAndGet(charge.units()) > onDisk());
                            }
                            return answer.timeout(Duration.ofNanos(1 + i), Mono.empty())
                                    .then(atOnce.settle(charge, 0))
                                    .thenReturn(false);
                        },
                        500)
                .filter(isAhead -> isAhead)
                .count()
                .block(LONGEST);
        assertThat(ahead).isZero();
        awaitWritten();
        assertThat(used(atOnce, set)).containsExactly(given.get());
        assertThat(onDisk()).isBetween(given.get(), given.get() + 150);
    }

    private long onDisk() {
        return disk.live().values().stream().mapToLong(JournalRecord::used).sum();
    }

    /** So many that those of which nothing is used go with the next change. */
    private void useManyQuotas() {
        Quota[] many = IntStream.range(0, Account.KEPT)
                .mapToObj(i -> new Quota.Total("another-" + i, 10))
                .toArray(Quota[]::new);
        new Request(QuotaSet.of(VirtualQuotas.ACME, many), 1);
        comeBack();
    }

    /** What the next request is charged to: the same, in a set of its own. */
    private static QuotaSet reloaded() {
        return QuotaSet.of(VirtualQuotas.ACME, SHARED);
    }

    @Test
    void a_usage_whose_first_record_is_on_its_way_is_not_forgotten_in_favour_of_another() throws Exception {
        useManyQuotas();
        disk.hang();
        Request first = new Request(reloaded(), 1);
        disk.awaitWrite();
        Request second = new Request(reloaded(), 20);
        Request third = new Request(reloaded(), 300);
        disk.goOn();
        comeBack();
        assertThat(List.of(first, second, third)).allMatch(Request::passes);
        assertThat(used(quotas, reloaded())).containsExactly(321L);
        assertThat(usedAfterACrash(reloaded())).allMatch(used -> used >= 321 && used <= 321 + CHUNK);
    }

    @Test
    void a_record_of_the_window_before_does_not_follow_that_of_a_new_one() throws Exception {
        useManyQuotas();
        Request yesterday = new Request(reloaded(), 700);
        comeBack();
        assertThat(yesterday.passes()).isTrue();
        wall = Instant.parse("2026-03-11T00:00:00Z");
        disk.hang();
        Request first = new Request(reloaded(), 1);
        disk.awaitWrite();
        Request second = new Request(reloaded(), 20);
        Request third = new Request(reloaded(), 300);
        disk.goOn();
        comeBack();
        assertThat(List.of(first, second, third)).allMatch(Request::passes);
        assertThat(usedAfterACrash(reloaded())).allMatch(used -> used >= 321 && used <= 321 + CHUNK);
    }

    @Test
    void a_usage_whose_window_is_over_is_kept_while_a_record_of_it_is_on_its_way() throws Exception {
        useManyQuotas();
        disk.hang();
        Request first = new Request(reloaded(), 1);
        disk.awaitWrite();
        Request second = new Request(reloaded(), 20);
        wall = Instant.parse("2026-03-11T00:00:00Z");
        Request third = new Request(reloaded(), 300);
        disk.goOn();
        awaitWritten();
        first.leave();
        second.leave();
        comeBack();
        assertThat(third.passes()).isTrue();
        assertThat(usedAfterACrash(reloaded())).allMatch(used -> used >= 300 && used <= 300 + CHUNK);
    }

    @Test
    void what_is_written_for_a_first_request_is_not_found_as_used_before_it_comes_back() {
        useManyQuotas();
        Request first = new Request(reloaded(), 900);
        awaitWritten();
        Request second = new Request(reloaded(), 100);
        comeBack();
        assertThat(first.passes()).isTrue();
        assertThat(second.passes()).isTrue();
        assertThat(used(quotas, reloaded())).containsExactly(1000L);
    }

    @Test
    void who_leaves_after_its_window_is_over_does_not_write_over_the_new_one() {
        useManyQuotas();
        Request late = new Request(reloaded(), 900);
        awaitWritten();
        wall = Instant.parse("2026-03-11T00:00:00Z");
        Request today = new Request(reloaded(), 300);
        awaitWritten();
        late.leave();
        comeBack();
        assertThat(today.passes()).isTrue();
        assertThat(usedAfterACrash(reloaded())).allMatch(used -> used >= 300 && used <= 300 + CHUNK);
    }

    @Test
    void a_usage_of_a_window_that_is_over_is_forgotten_also_when_it_was_only_written_for() {
        QuotaOwner owner = QuotaOwner.tenant(VirtualQuotas.ACME);
        useManyQuotas();
        new Request(reloaded(), 900).leave();
        comeBack();
        int before = quotas.account(owner).size();
        wall = Instant.parse("2026-03-11T00:00:00Z");
        quotas.checkNow(
                QuotaSet.of(VirtualQuotas.ACME, new Quota.Calendar("hourly", 5, CalendarUnit.HOUR, ZoneOffset.UTC)), 1);
        assertThat(quotas.account(owner).size()).as("one more, and one less").isEqualTo(before);
    }
}

package io.fairgate.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.Visit.Outcome;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;

class RecordingTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final long SECOND = 1_000_000_000;

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    private EmbeddedPermitPool pool(int permits, Recording recording) {
        return nothingLeft.watch(new EmbeddedPermitPool(
                "recorded",
                PoolSettings.ofPermits(permits).withMaxWait(Duration.ofSeconds(5)),
                TenantShares.EQUAL,
                time,
                recording));
    }

    private static HeldPermits take(EmbeddedPermitPool pool, String tenant) {
        return Objects.requireNonNull(pool.tryAcquire(PermitRequest.of(tenant)));
    }

    private void advance(int seconds) {
        time.advanceBy(Duration.ofSeconds(seconds));
    }

    private static List<String> told(Recorded recorded) {
        return recorded.visits().stream()
                .map(visit -> "%s %s at %d, waited %d, held %d"
                        .formatted(
                                visit.tenant().value(),
                                visit.outcome() == Outcome.REFUSED ? visit.refusal() : visit.outcome(),
                                (visit.askedAt() - recorded.from()) / SECOND,
                                visit.waited() / SECOND,
                                visit.held() / SECOND))
                .toList();
    }

    @Test
    void each_outcome_is_recorded_with_its_times() {
        Recording recording = new Recording(100, time);
        EmbeddedPermitPool pool = pool(1, recording);
        HeldPermits first = take(pool, "a");
        List<HeldPermits> granted = new ArrayList<>();
        advance(1);
        pool.acquire(PermitRequest.of("b").withPermits(1).withClass("batch")).subscribe(granted::add);
        Disposable leaves = pool.acquire(PermitRequest.of("c")).subscribe();
        pool.acquire(PermitRequest.of("d").withMaxWait(Duration.ofSeconds(2))).subscribe(held -> {}, refused -> {});
        pool.acquire(PermitRequest.of("e").withPermits(2)).subscribe(held -> {}, refused -> {});
        advance(1);
        leaves.dispose();
        advance(1);
        first.release();
        time.runDue();
        advance(4);
        Recorded recorded = recording.read(HOUR);
        assertThat(told(recorded))
                .containsExactlyInAnyOrder(
                        "a SERVED at 0, waited 0, held 3",
                        "b HOLDS at 1, waited 2, held 4",
                        "c LEFT at 1, waited 1, held 0",
                        "d MAX_WAIT at 1, waited 2, held 0",
                        "e TOO_LARGE at 1, waited 0, held 0");
        assertThat(recorded.visits())
                .filteredOn(visit -> visit.requestClass() != null)
                .singleElement()
                .satisfies(visit -> assertThat(visit.requestClass()).isEqualTo("batch"));
        // Seven seconds have passed, but a request that asked in the last two of them might still wait.
        assertThat(recorded.to() - recorded.from()).isEqualTo(5 * SECOND);
        granted.forEach(HeldPermits::release);
    }

    @Test
    void the_latest_visits_are_kept_and_the_time_that_they_cover_is_known() {
        Recording recording = new Recording(3, time);
        EmbeddedPermitPool pool = pool(1, recording);
        for (int i = 0; i < 5; i++) {
            HeldPermits held = take(pool, "t" + i);
            advance(1);
            held.release();
            advance(1);
        }
        Recorded recorded = recording.read(HOUR);
        assertThat(told(recorded))
                .containsExactly(
                        "t2 SERVED at -1, waited 0, held 1",
                        "t3 SERVED at 1, waited 0, held 1",
                        "t4 SERVED at 3, waited 0, held 1");
        assertThat(recorded.to() - recorded.from()).isEqualTo(5 * SECOND);
    }

    @Test
    void what_is_forgotten_ended_before_all_that_is_kept() {
        Recording recording = new Recording(3, time);
        EmbeddedPermitPool pool = pool(2, recording);
        HeldPermits longest = take(pool, "long");
        advance(1);
        for (int i = 0; i < 10; i++) {
            take(pool, "short").release();
            advance(1);
        }
        // The oldest short one that is kept ended at 8 s.
        assertThat(told(recording.read(HOUR))).hasSize(4).contains("long HOLDS at -8, waited 0, held 11");
        longest.release();
        advance(1);
        take(pool, "short").release();
        // At 10 s, at 11 s, and at 12 s.
        assertThat(told(recording.read(HOUR)))
                .containsExactly(
                        "long SERVED at -10, waited 0, held 11",
                        "short SERVED at 0, waited 0, held 0",
                        "short SERVED at 2, waited 0, held 0");
        for (int i = 0; i < 2; i++) {
            advance(1);
            take(pool, "short").release();
        }
        assertThat(told(recording.read(HOUR))).hasSize(3).noneMatch(visit -> visit.startsWith("long"));
    }

    @Test
    void a_hold_that_ended_before_newer_visits_overtook_it_is_kept_as_long_as_it_counts() {
        Recording recording = new Recording(4, time);
        EmbeddedPermitPool pool = pool(2, recording);
        HeldPermits longest = take(pool, "long");
        for (int second = 1; second <= 5; second++) {
            advance(1);
            if (second == 4) {
                longest.release();
            } else {
                take(pool, "short").release();
            }
        }
        assertThat(told(recording.read(HOUR)))
                .containsExactly(
                        "long SERVED at -2, waited 0, held 4",
                        "short SERVED at 0, waited 0, held 0",
                        "short SERVED at 1, waited 0, held 0",
                        "short SERVED at 3, waited 0, held 0");
    }

    @Test
    void after_a_change_of_the_settings_only_holds_that_go_on_are_left() {
        Recording recording = new Recording(100, time);
        EmbeddedPermitPool pool = pool(2, recording);
        HeldPermits held = take(pool, "long");
        take(pool, "short").release();
        advance(1);
        recording.beginAnew();
        advance(1);
        take(pool, "short").release();
        assertThat(told(recording.read(HOUR)))
                .containsExactly("long HOLDS at -1, waited 0, held 2", "short SERVED at 1, waited 0, held 0");
        held.release();
    }

    @Test
    void no_more_is_read_than_was_asked_for_and_nothing_that_is_older_than_ten_minutes() {
        Recording recording = new Recording(1000, time);
        EmbeddedPermitPool pool = pool(1, recording);
        for (int i = 0; i < 30; i++) {
            take(pool, "a").release();
            advance(60);
        }
        assertThat(recording.read(HOUR).visits()).hasSize(10);
        Recorded twoMinutes = recording.read(Duration.ofMinutes(2));
        assertThat(twoMinutes.visits()).hasSize(2);
        assertThat(twoMinutes.to() - twoMinutes.from()).isEqualTo(120 * SECOND);
    }

    @Test
    void what_tenants_got_just_now_counts_when_the_wait_ends() {
        Recording recording = new Recording(100, time);
        EmbeddedPermitPool pool = pool(1, recording);
        HeldPermits held = take(pool, "a");
        pool.acquire(PermitRequest.of("b").withMaxWait(Duration.ofSeconds(4))).subscribe(none -> {}, refused -> {});
        advance(5);
        Duration threeSeconds = Duration.ofSeconds(3);
        assertThat(recording.read(threeSeconds).uses().get(TenantId.of("b")))
                .isNotNull()
                .satisfies(b -> assertThat(b.refused()).isEmpty());
        Recording.Latest latest = recording.latest(threeSeconds);
        assertThat(latest.seconds()).isEqualTo(3);
        assertThat(latest.tenants().get(TenantId.of("b")))
                .isNotNull()
                .satisfies(b -> assertThat(b.refused()).containsEntry(RefusalReason.MAX_WAIT, 1L));
        assertThat(latest.all().permitSeconds()).as("a has held its permit").isEqualTo(3);
        held.release();
    }

    @Test
    void a_size_below_one_is_refused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Recording(0, time))
                .withMessage("size: 0 (expected: >= 1)");
    }

    @Test
    void concurrent_requests_leave_each_visit_once_and_none_that_holds() throws Exception {
        Recording recording = new Recording(64, time);
        EmbeddedPermitPool pool = pool(1000, recording);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                String tenant = "t" + thread;
                all.add(threads.submit(() -> {
                    List<HeldPermits> held = new ArrayList<>();
                    for (int i = 0; i < 20_000; i++) {
                        HeldPermits one = pool.tryAcquire(PermitRequest.of(tenant));
                        if (one != null) {
                            held.add(one);
                        }
                        if (held.size() > 100 || (one == null && !held.isEmpty())) {
                            held.remove(i % held.size()).release();
                        }
                    }
                    held.forEach(HeldPermits::release);
                }));
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            threads.shutdownNow();
        }
        List<Visit> visits = recording.read(HOUR).visits();
        assertThat(visits).hasSize(64).noneMatch(visit -> visit.outcome() == Outcome.HOLDS);
    }
}

package io.fairgate.permit.embedded;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolTotals;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Where the embedded pool is more exact than its contract, which a pool in another process keeps as well. */
class ExactPoolTest {

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = new TestTime();

    private PermitPool pool(PoolSettings settings, TenantShares shares) {
        return nothingLeft.watch(
                new EmbeddedPermitPool("test", settings, shares, nothingLeft.watch(time), PoolListener.NONE));
    }

    private static PermitRequest request(String tenant) {
        return PermitRequest.of(tenant).withEventLoop(Runnable::run);
    }

    private static HeldPermits take(PermitPool pool, String tenant, int permits) {
        return Objects.requireNonNull(pool.tryAcquire(request(tenant).withPermits(permits)));
    }

    @Test
    void one_timer_ends_every_wait_at_its_time() {
        PermitPool pool = pool(PoolSettings.ofPermits(1).withMaxWait(Duration.ofSeconds(100)), TenantShares.EQUAL);
        HeldPermits first = take(pool, "a", 1);
        List<Integer> ended = new ArrayList<>();
        List<Integer> seconds =
                new ArrayList<>(IntStream.rangeClosed(1, 100).boxed().toList());
        Collections.shuffle(seconds, new Random(1));
        for (int i : seconds) {
            PermitRequest request = request("t" + i % 7).withMaxWait(Duration.ofSeconds(i));
            Disposable waiting = pool.withPermit(request, Mono.never()).subscribe(v -> {}, e -> ended.add(i));
            if (i % 3 == 0) {
                waiting.dispose();
            }
        }
        assertThat(time.timersLeft()).as("timers").isOne();
        for (int i = 1; i <= 100; i++) {
            time.advanceBy(Duration.ofMillis(999));
            assertThat(ended).as("ended before %d s", i).doesNotContain(i);
            time.advanceBy(Duration.ofMillis(1));
            assertThat(ended.contains(i)).as("ended at %d s", i).isEqualTo(i % 3 != 0);
        }
        first.release();
    }

    @Test
    void every_hold_ends_at_its_time_whether_the_request_waited_or_not() {
        PermitPool pool = pool(PoolSettings.ofPermits(20).withMaxWait(Duration.ofSeconds(100)), TenantShares.EQUAL);
        Map<Integer, Long> endedAt = new HashMap<>();
        // On the fast path, in an order in which the timer has to be set again; the last request has to wait.
        for (int i : new int[] {9, 5, 7, 3, 8, 5, 6, 4}) {
            hold(pool, "a", i, endedAt);
            time.advanceBy(Duration.ofMillis(100));
        }
        HeldPermits rest = take(pool, "b", 12);
        hold(pool, "c", 2, endedAt);
        time.advanceBy(Duration.ofSeconds(1));
        rest.release();
        time.advanceBy(Duration.ofSeconds(20));
        assertThat(endedAt)
                .containsOnly(
                        entry(9, 9_000L),
                        entry(5, 5_500L),
                        entry(7, 7_200L),
                        entry(3, 3_300L),
                        entry(8, 8_400L),
                        entry(6, 6_600L),
                        entry(4, 4_700L),
                        entry(2, 3_800L));
    }

    private void hold(PermitPool pool, String tenant, int seconds, Map<Integer, Long> endedAt) {
        PermitRequest request = request(tenant).withMaxHold(Duration.ofSeconds(seconds));
        pool.withPermit(request, Mono.never())
                .subscribe(v -> {}, e -> endedAt.put(seconds, time.now(TimeUnit.MILLISECONDS)));
    }

    @Test
    void permits_that_were_taken_without_waiting_count_for_the_share_of_their_tenant() {
        PermitPool pool = pool(PoolSettings.ofPermits(2).withMaxWait(Duration.ofMinutes(1)), TenantShares.EQUAL);
        HeldPermits first = take(pool, "noisy", 1);
        HeldPermits second = take(pool, "noisy", 1);
        AtomicInteger noisy = new AtomicInteger();
        AtomicInteger quiet = new AtomicInteger();
        Sinks.Empty<Void> end = Sinks.empty();
        pool.withPermit(request("noisy"), end.asMono().doOnSubscribe(s -> noisy.incrementAndGet()))
                .subscribe();
        pool.withPermit(request("quiet"), end.asMono().doOnSubscribe(s -> quiet.incrementAndGet()))
                .subscribe();
        first.release();
        assertThat(noisy).as("it holds one permit already").hasValue(0);
        assertThat(quiet).hasValue(1);
        second.release();
        assertThat(noisy).hasValue(1);
        end.tryEmitEmpty();
    }

    @Test
    void an_idle_tenant_is_not_in_the_status_even_after_it_held_permits() {
        TenantId a = TenantId.of("a");
        TenantStanding idle = new TenantStanding(new PoolTotals(3, 0, 0), 0, 0, 0, 2);
        PermitPool pool = pool(PoolSettings.ofPermits(3), TenantShares.EQUAL.withMember(a, ShareSettings.ofWeight(2)));
        take(pool, "a", 1).release();
        assertThat(pool.standing(a).block()).isEqualTo(idle);
        assertThat(NothingLeft.statusOf(pool).tenants()).isEmpty();
    }

    @Test
    void a_tenant_at_its_cap_because_of_a_restore_takes_nothing_without_waiting() {
        PermitPool pool = pool(
                PoolSettings.ofPermits(4),
                TenantShares.EQUAL.withMember(TenantId.of("a"), ShareSettings.EQUAL.withMaxInFlight(1)));
        HeldPermits restored = Objects.requireNonNull(pool.restore(request("a")).block());
        assertThat(pool.tryAcquire(request("a"))).isNull();
        restored.release();
        take(pool, "a", 1).release();
    }

    @Test
    void permits_that_are_free_are_taken_at_the_first_attempt() {
        PermitPool pool = pool(PoolSettings.ofPermits(4), TenantShares.EQUAL);
        for (int i = 0; i < 1_000; i++) {
            take(pool, "t" + i % 3, 1 + i % 4).release();
        }
    }
}

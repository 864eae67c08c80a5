package io.fairgate.spring.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class UsageSamplerTest {

    private final TestTime time = new TestTime();
    private final UsageHistory history = new UsageHistory();
    private final AtomicInteger reads = new AtomicInteger();
    private Mono<Map<String, PoolUse>> next = Mono.fromSupplier(() ->
            Map.of("pool", new PoolUse(1, 1, 0, List.of(), Map.of("a", (double) reads.incrementAndGet()))));

    private UsageSampler sampler() {
        return new UsageSampler(history, () -> next, time, Schedulers.immediate());
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    @Test
    void it_adds_a_state_each_second_until_it_ends() {
        UsageSampler sampler = sampler();
        time.runDue();
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(reads).hasValue(4);
        sampler.destroy();
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(reads).hasValue(4);
    }

    @Test
    void an_error_and_a_state_that_never_comes_leave_a_gap_and_do_not_end_it() {
        UsageSampler sampler = sampler();
        time.runDue();
        Mono<Map<String, PoolUse>> good = next;
        next = Mono.error(new IllegalStateException("a test"));
        time.advanceBy(Duration.ofSeconds(1));
        next = Mono.defer(() -> {
            throw new IllegalStateException("a test");
        });
        time.advanceBy(Duration.ofSeconds(1));
        next = Mono.never();
        time.advanceBy(Duration.ofSeconds(2));
        next = good;
        time.advanceBy(Duration.ofSeconds(3));
        assertThat(reads.get()).isGreaterThanOrEqualTo(3);
        sampler.destroy();
    }

    @Test
    void what_has_just_happened_is_explained_by_a_state_that_comes_after_it() {
        UsageSampler sampler = sampler();
        time.runDue();
        time.advanceBy(Duration.ofMillis(1_050));
        long refusedAt = now();
        assertThat(history.explain("pool", "a", refusedAt, refusedAt)).isNull();
        AtomicInteger done = new AtomicInteger();
        sampler.sampleSoon().subscribe(nothing -> {}, failure -> {}, done::incrementAndGet);
        time.advanceBy(Duration.ofMillis(100));
        assertThat(done).hasValue(1);
        assertThat(Objects.requireNonNull(history.explain("pool", "a", refusedAt, refusedAt))
                        .permits())
                .isOne();
        sampler.destroy();
    }
}

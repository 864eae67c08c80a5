package io.fairgate.permit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class PoolStatisticsTest {

    @Test
    void statistics_count_outcomes_waits_and_holds() {
        TestTime time = new TestTime();
        PoolStatistics statistics = new PoolStatistics();
        EmbeddedPermitPool pool = new EmbeddedPermitPool(
                "test", PoolSettings.ofPermits(2).withMaxWaiting(1), TenantShares.EQUAL, time, statistics);
        PermitRequest request = PermitRequest.of("a").withEventLoop(Runnable::run);
        HeldPermits both = Objects.requireNonNull(pool.tryAcquire(request.withPermits(2)));
        pool.withPermit(request, Mono.empty()).subscribe();
        pool.withPermit(request, Mono.empty()).subscribe(v -> {}, e -> {});
        time.advanceBy(Duration.ofSeconds(1));
        both.release();
        HeldPermits again = Objects.requireNonNull(pool.tryAcquire(request.withPermits(2)));
        pool.withPermit(request, Mono.empty()).subscribe().dispose();
        again.release();
        assertThat(statistics.granted()).isEqualTo(3);
        assertThat(statistics.released()).isEqualTo(3);
        assertThat(statistics.abandoned()).isOne();
        assertThat(statistics.refused(RefusalReason.POOL_QUEUE_FULL)).isOne();
        assertThat(statistics.refused(RefusalReason.MAX_WAIT)).isZero();
        assertThat(statistics.waited()).isEqualTo(Duration.ofSeconds(1));
        assertThat(statistics.heldPermitTime()).isEqualTo(Duration.ofSeconds(2));
    }
}

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
import io.fairgate.testkit.ForwardingScheduler;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** What a hundred thousand open leases cost: their memory, and nothing else until the first of them expires. */
class LeaseFootprintTest {

    private static final int MANY = 100_000;
    private static final int MOST_BYTES_EACH = 420;
    private static final TenantId ACME = TenantId.of("acme");
    private static final LeaseTerm TERM = new LeaseTerm(Duration.ofHours(1), Duration.ofHours(2));

    @RegisterExtension
    final NothingLeft nothingLeft = new NothingLeft();

    private final TestTime time = nothingLeft.watch(new TestTime());
    private final AtomicInteger timersRun = new AtomicInteger();
    private final EmbeddedPermitPool pool = nothingLeft.watch(
            new EmbeddedPermitPool("pool", PoolSettings.ofPermits(MANY), TenantShares.EQUAL, time, PoolListener.NONE));
    private final Leases leases =
            new EmbeddedLeases(Map.of("pool", pool)::get, counted(time), new FencingTokens(() -> Instant.EPOCH));

    private Scheduler counted(Scheduler timers) {
        return new ForwardingScheduler(timers) {
            @Override
            public Disposable schedule(Runnable task, long delay, TimeUnit unit) {
                Runnable counted = () -> {
                    timersRun.incrementAndGet();
                    task.run();
                };
                return super.schedule(counted, delay, unit);
            }
        };
    }

    private void hold(int id) {
        LeaseId lease = new LeaseId(id, id);
        assertThat(leases.open(lease, LeaseHolder.of(ACME, ""), TERM).block()).isTrue();
        assertThat(leases.acquire(lease, LeaseRequest.of("pool", 1, Duration.ZERO, TERM.ttl()))
                        .block())
                .isTrue();
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void a_hundred_thousand_take_their_bytes_and_no_time_until_they_expire() {
        hold(0);
        long before = heap();
        for (int i = 1; i <= MANY - 1; i++) {
            hold(i);
        }
        assertThat((heap() - before) / MANY).as("bytes each").isBetween(1L, (long) MOST_BYTES_EACH);

        time.advanceBy(TERM.ttl().minusNanos(1));
        assertThat(timersRun).as("timers that rang while nothing was due").hasValue(0);
        assertThat(leases.count().block()).isEqualTo(new LeaseCount(MANY, MANY, 0));
        time.advanceBy(Duration.ofNanos(1));
        assertThat(timersRun).hasValue(1);
        assertThat(leases.count().block()).isEqualTo(new LeaseCount(0, 0, 0));
    }
}

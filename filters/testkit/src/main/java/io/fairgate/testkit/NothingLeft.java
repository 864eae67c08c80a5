package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.permit.PermitPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * After each test: nothing in flight and nothing waiting in all pools that it watches, and when these are closed, no timer
 * left.
 */
public final class NothingLeft implements AfterEachCallback {

    private final List<PermitPool> pools = new ArrayList<>();
    private final List<TestTime> timers = new ArrayList<>();

    public <P extends PermitPool> P watch(P pool) {
        pools.add(pool);
        return pool;
    }

    public TestTime watch(TestTime time) {
        timers.add(time);
        return time;
    }

    @Override
    public void afterEach(ExtensionContext context) {
        for (PermitPool pool : pools) {
            PoolStatus status = statusOf(pool);
            assertThat(status.inFlight())
                    .as("in flight in pool %s", pool.name())
                    .isZero();
            assertThat(status.waiting()).as("waiting in pool %s", pool.name()).isZero();
            assertThat(status.tenants()).as("tenants of pool %s", pool.name()).allSatisfy(tenant -> {
                assertThat(tenant.inFlight()).isZero();
                assertThat(tenant.waiting()).isZero();
            });
        }
        // What a pool still watches when nothing is left in it ends with it.
        pools.forEach(pool -> pool.close(Duration.ZERO).subscribe());
        for (TestTime time : timers) {
            assertThat(time.timersLeft()).as("timers left").isZero();
        }
        pools.clear();
        timers.clear();
    }

    /** The status of a pool whose backend answers at once, as the embedded one does. */
    public static PoolStatus statusOf(PermitPool pool) {
        AtomicReference<PoolStatus> status = new AtomicReference<>();
        pool.snapshot().subscribe(status::set);
        assertThat(status).as("snapshot of pool %s", pool.name()).doesNotHaveNullValue();
        return Objects.requireNonNull(status.get());
    }
}

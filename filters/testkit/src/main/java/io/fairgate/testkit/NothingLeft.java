package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.status.PoolStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Asserts after each test that nothing is in flight and nothing waits in the pools that it watches, and that no timer is left
 * after these pools are closed.
 */
public final class NothingLeft implements AfterEachCallback {

    private final List<PermitPool> pools = new ArrayList<>();
    private final List<TestTime> timers = new ArrayList<>();
    private final Runnable answers;

    public NothingLeft() {
        this(() -> {});
    }

    /** @param answers lets the pools answer what they were asked, for pools that do not answer at once */
    public NothingLeft(Runnable answers) {
        this.answers = answers;
    }

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
            PoolStatus status = status(pool);
            assertThat(status.inFlight())
                    .as("in flight in pool %s", pool.name())
                    .isZero();
            assertThat(status.waiting()).as("waiting in pool %s", pool.name()).isZero();
            assertThat(status.accounted())
                    .as("accounted for in pool %s", pool.name())
                    .isEqualTo(status.permits());
            assertThat(status.tenants()).as("tenants of pool %s", pool.name()).allSatisfy(tenant -> {
                assertThat(tenant.inFlight()).isZero();
                assertThat(tenant.waiting()).isZero();
            });
        }
        // Closing a pool ends timers that it still has when nothing is left in it.
        pools.forEach(pool -> pool.close(Duration.ZERO).subscribe());
        answers.run();
        for (TestTime time : timers) {
            assertThat(time.timersLeft()).as("timers left").isZero();
        }
        pools.clear();
        timers.clear();
    }

    private PoolStatus status(PermitPool pool) {
        CompletableFuture<PoolStatus> status = pool.snapshot().toFuture();
        answers.run();
        return Objects.requireNonNull(status.orTimeout(30, TimeUnit.SECONDS).join());
    }

    /** The status of a pool, after another thread that may still be at work in it is done. */
    public static PoolStatus statusOf(PermitPool pool) {
        return Objects.requireNonNull(pool.snapshot().block(Duration.ofSeconds(30)));
    }
}

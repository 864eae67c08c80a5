package io.fairgate.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import java.lang.management.ManagementFactory;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Bytes can be tested, because they are the same in every run. */
class MemoryUseTest {

    private static final int TIMES = 10_000;

    private static final MemoryUse MEMORY = MemoryUse.measure(10_000);

    @Test
    void a_waiter_and_a_tenant_stay_within_the_limits_of_the_report() {
        assertThat(MEMORY.waiter()).isBetween(50.0, (double) MemoryUse.WAITER_LIMIT);
        assertThat(MEMORY.tenantAndQuotas()).isBetween(200.0, (double) MemoryUse.TENANT_LIMIT);
    }

    @Test
    void acquire_and_release_allocate_only_the_handle() {
        EmbeddedPermitPool pool = new EmbeddedPermitPool("orders", PoolSettings.ofPermits(8), TenantShares.EQUAL);
        PermitRequest request = PermitRequest.of("acme");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        takeAndGiveBack(pool, request);

        long before = threads.getCurrentThreadAllocatedBytes();
        takeAndGiveBack(pool, request);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat((double) allocated / TIMES).isLessThan(MEMORY.handle() + 1);
    }

    private static void takeAndGiveBack(EmbeddedPermitPool pool, PermitRequest request) {
        for (int i = 0; i < TIMES; i++) {
            Objects.requireNonNull(pool.tryAcquire(request)).release();
        }
    }
}

package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolRequest;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** What it costs to count an event: nothing is made for it, so a forwarded request costs no memory for its meters. */
class CostOfMetersTest {

    private static final int EVENTS = 100_000;
    /** Some bytes for all events together, which the runtime may need for itself. */
    private static final long FEW_BYTES = 4L * EVENTS;

    /** Two of them have series of their own, and the others share one. */
    private static final TenantId[] TENANTS = {
        TenantSeriesTest.Scene.tenant(0),
        TenantSeriesTest.Scene.tenant(1),
        TenantSeriesTest.Scene.tenant(2),
        TenantSeriesTest.Scene.tenant(3)
    };

    private static final PoolRequest[] REQUESTS =
            Stream.of(TENANTS).map(CostOfMetersTest::request).toArray(PoolRequest[]::new);

    private final FairgateMeters meters = new FairgateMeters(
            new PolicyHolder(TenantSeriesTest.Scene.policy(4)), new SimpleMeterRegistry(), 2, new TestTime());
    private final PoolListener pool = meters.listenTo(TenantSeriesTest.POOL);

    private static long allocatedBy(Runnable events) {
        events.run(); // Registers the meters.
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        events.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    private static PoolRequest request(TenantId tenant) {
        return new PoolRequest() {
            @Override
            public TenantId tenant() {
                return tenant;
            }

            @Override
            public @Nullable String requestClass() {
                return null;
            }

            @Override
            public int permits() {
                return 1;
            }

            @Override
            public ContextView context() {
                return Context.empty();
            }

            @Override
            public void attach(Object attachment) {}

            @Override
            public @Nullable Object attachment() {
                return null;
            }
        };
    }

    private static TenantId tenant(int i) {
        return TENANTS[i % TENANTS.length];
    }

    @Test
    void a_request_that_passes_a_pool_makes_no_objects_for_its_meters() {
        assertThat(allocatedBy(() -> {
                    for (int i = 0; i < EVENTS; i++) {
                        pool.granted(REQUESTS[i % REQUESTS.length], i);
                        pool.released(REQUESTS[i % REQUESTS.length], i);
                    }
                }))
                .isLessThan(FEW_BYTES);
    }

    @Test
    void a_refused_request_makes_no_objects_for_its_meters() {
        assertThat(allocatedBy(() -> {
                    for (int i = 0; i < EVENTS; i++) {
                        meters.refused(tenant(i), "quota", true);
                        meters.refused(null, "missing", false);
                    }
                }))
                .isLessThan(FEW_BYTES);
    }
}

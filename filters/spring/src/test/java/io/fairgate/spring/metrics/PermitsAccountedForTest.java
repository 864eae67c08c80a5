package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PoolsPerInstance;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A pool whose permits are not as many as its size says so, and goes on. */
@ExtendWith(OutputCaptureExtension.class)
class PermitsAccountedForTest {

    private final TestTime time = new TestTime();
    private int lost;

    /** A pool that has lost some of its free permits. */
    private PermitPool losing(PermitPool pool) {
        return (PermitPool) Proxy.newProxyInstance(
                PermitPool.class.getClassLoader(),
                new Class<?>[] {PermitPool.class},
                (proxy, method, arguments) -> method.getName().equals("snapshot")
                        ? pool.snapshot().map(this::without)
                        : method.invoke(pool, arguments));
    }

    private PoolStatus without(PoolStatus status) {
        return new PoolStatus(
                status.permits(),
                status.inFlight(),
                status.free() - lost,
                status.waiting(),
                status.collecting(),
                status.gain(),
                status.tenants(),
                status.groups());
    }

    @Test
    void a_lost_permit_is_an_error_with_its_numbers(CapturedOutput output) {
        Policy policy = TenantSeriesTest.Scene.policy(1);
        FairgateMeters meters = new FairgateMeters(new PolicyHolder(policy), new SimpleMeterRegistry(), 1, time);
        PermitPools pools = new PermitPools(
                policy,
                (name, settings, shares, listener) ->
                        losing(new EmbeddedPermitPool(name, settings, shares, time, listener)),
                time,
                meters,
                PoolsPerInstance.NONE);
        PoolUsage usage = new PoolUsage(pools, meters, time);
        int permits = usage.of(TenantSeriesTest.POOL).permits();
        assertThat(usage.of(TenantSeriesTest.POOL).accounted()).isEqualTo(permits);
        assertThat(output.getAll()).doesNotContain("accounted for");

        lost = 1;
        usage.expire();
        assertThat(usage.of(TenantSeriesTest.POOL).accounted()).isEqualTo(permits - 1);
        assertThat(output.getAll())
                .contains("Pool %s: %d permits are accounted for, %d of them free (expected: %d)."
                        .formatted(TenantSeriesTest.POOL, permits - 1, permits - 1, permits));
    }
}

package io.fairgate.spring.pace;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** A pool with one permit, in virtual time. */
final class OnePermit {

    private final TestTime time = new TestTime();
    private final PermitPool pool = new EmbeddedPermitPool(
            "pool",
            new PoolSettings(1, 100, Duration.ofDays(1), Duration.ofDays(1)),
            TenantShares.EQUAL,
            time,
            PoolListener.NONE);

    PermitPool pool() {
        return pool;
    }

    /** From now on, the pool is full. */
    void use() {
        var unused = pool.withPermit(PermitRequest.of(TenantId.of("a")), Mono.never())
                .subscribe();
        time.runDue();
    }
}

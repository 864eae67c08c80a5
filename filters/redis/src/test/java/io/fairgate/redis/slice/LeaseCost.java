package io.fairgate.redis.slice;

import com.sun.management.OperatingSystemMXBean;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisScript;
import io.fairgate.redis.lease.RedisLeases;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** The processor time of this process for leases in Redis, and for calls of a script that does nothing. */
final class LeaseCost {

    private static final int LEASES = 5_000;
    private static final int WARM_UP = 20_000;
    private static final int AT_ONCE = 8;
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final TenantId TENANT = TenantId.of("tenant");
    private static final LeaseHolder HOLDER = LeaseHolder.of(TENANT, "holder");
    private static final LeaseTerm TERM = new LeaseTerm(MINUTE, MINUTE);
    private static final RedisScript EMPTY = new RedisScript("return { 0 }");
    private static final String[] KEYS = {"key"};
    private static final String[] ARGUMENTS = {"argument"};

    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final RedisConnections connections;

    LeaseCost(RedisConnections connections) {
        this.connections = connections;
    }

    /** Microseconds for two calls of a script that does nothing. */
    double twoCalls() {
        Mono<?> two = Mono.defer(() -> EMPTY.call(connections, KEYS, ARGUMENTS))
                .then(Mono.defer(() -> EMPTY.call(connections, KEYS, ARGUMENTS)));
        return micros(two);
    }

    /** Microseconds to acquire a permit and to release it. */
    double lease() {
        try (RedisPools pools = new RedisPools(connections, Duration.ofSeconds(1), OutagePolicy.FAIL_CLOSED)) {
            PermitPool pool =
                    pools.newPool("leased", PoolSettings.ofPermits(100), TenantShares.EQUAL, PoolListener.NONE);
            RedisLeases leases = pools.newLeases(name -> name.equals("leased") ? pool : null);
            awaitPermits(pool);
            double micros = micros(Mono.defer(() -> lease(leases, LeaseId.random())));
            leases.close().block(MINUTE);
            pool.close(Duration.ZERO).block(MINUTE);
            return micros;
        }
    }

    /** Until the first recovery of Redis is over, requests error. */
    private static void awaitPermits(PermitPool pool) {
        Objects.requireNonNull(pool.acquire(PermitRequest.of(TENANT))
                        .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100)))
                        .block(MINUTE))
                .release();
    }

    private static Mono<?> lease(RedisLeases leases, LeaseId id) {
        return leases.open(id, HOLDER, TERM)
                .then(Mono.defer(() -> leases.acquire(id, LeaseRequest.of("leased", 1, MINUTE, MINUTE))))
                .then(Mono.defer(() -> leases.release(id)));
    }

    private double micros(Mono<?> work) {
        run(work, WARM_UP);
        long before = system.getProcessCpuTime();
        run(work, LEASES);
        return (system.getProcessCpuTime() - before) / 1e3 / LEASES;
    }

    private static void run(Mono<?> work, int times) {
        Flux.range(0, times).flatMap(i -> work, AT_ONCE).blockLast(MINUTE.multipliedBy(5));
    }
}

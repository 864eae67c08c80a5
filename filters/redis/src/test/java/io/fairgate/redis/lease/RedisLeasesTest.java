package io.fairgate.redis.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.lease.LeaseGoneException;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseStatus;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.lease.LeasesUnavailableException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.redis.slice.OutagePolicy;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Leases of two gateways on a real Redis. */
class RedisLeasesTest {

    private static final TenantId ACME = TenantId.of("acme");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final LeaseTerm TERM = new LeaseTerm(MINUTE, Duration.ofHours(1));
    private static final int PERMITS = 3;

    private RedisProcess server;
    private final List<Gateway> gateways = new ArrayList<>();

    /** A gateway with connections, pools and leases of its own. */
    private static final class Gateway {
        final RedisConnections connections;
        final RedisPools pools;
        final PermitPool pool;
        final RedisLeases leases;

        Gateway(int port) {
            connections = new RedisConnections(RedisAddress.of(RedisURI.create("127.0.0.1", port)));
            pools = new RedisPools(connections, Duration.ZERO, OutagePolicy.FAIL_CLOSED);
            pool = pools.newPool(
                    "orders",
                    PoolSettings.ofPermits(PERMITS).withMaxWait(LIMIT),
                    TenantShares.EQUAL,
                    PoolListener.NONE);
            leases = pools.newLeases(name -> name.equals("orders") ? pool : null);
        }

        /** Until the first recovery of Redis is over, requests error. */
        void awaitPermits() {
            Objects.requireNonNull(pool.acquire(PermitRequest.of("a"))
                            .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100)))
                            .block(LIMIT))
                    .release();
        }

        LeaseId opened() {
            LeaseId id = LeaseId.random();
            again(leases.open(id, LeaseHolder.of(ACME, "batch"), TERM)); // false if an answer was lost
            return id;
        }

        boolean acquire(LeaseId id, int permits) {
            return again(leases.acquire(id, LeaseRequest.of("orders", permits, LIMIT, MINUTE)));
        }

        LeaseStatus status(LeaseId id) {
            return again(leases.status(id));
        }

        /** A busy machine may take longer to answer than a call waits: then the call is repeated, as clients do. */
        static <T> T again(Mono<T> call) {
            return Objects.requireNonNull(call.retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100))
                            .filter(LeasesUnavailableException.class::isInstance))
                    .block(LIMIT));
        }

        void close() {
            leases.close().block(LIMIT);
            pool.close(Duration.ZERO).block(LIMIT);
            pools.close();
            connections.close();
        }
    }

    @BeforeEach
    void start() throws IOException {
        server = new RedisProcess();
        gateways.add(new Gateway(server.port()));
        gateways.add(new Gateway(server.port()));
        gateways.forEach(Gateway::awaitPermits);
    }

    @AfterEach
    void stop() {
        gateways.forEach(Gateway::close);
        server.close();
    }

    @Test
    void a_lease_of_one_gateway_is_a_lease_of_the_other() {
        Gateway one = gateways.get(0);
        Gateway two = gateways.get(1);
        LeaseId id = one.opened();
        assertThat(one.acquire(id, 2)).isTrue();
        assertThat(two.status(id).held())
                .singleElement()
                .satisfies(held -> assertThat(held.permits()).isEqualTo(2));
        assertThat(Gateway.again(two.leases.extend(id, MINUTE))).isBetween(MINUTE.minusSeconds(10), MINUTE);
        assertThat(Gateway.again(two.leases.release(id))).isTrue();
        LeaseId next = two.opened();
        assertThat(two.acquire(next, PERMITS)).isTrue();
        assertThat(Gateway.again(one.leases.release(next))).isTrue();
        assertThatThrownBy(() -> one.acquire(next, 1)).isInstanceOf(LeaseGoneException.class);
    }

    @Test
    void a_lease_outlives_redis_if_a_gateway_knows_it() throws IOException {
        Gateway one = gateways.get(0);
        Gateway two = gateways.get(1);
        LeaseId id = one.opened();
        assertThat(one.acquire(id, 2)).isTrue();
        long token = one.status(id).held().get(0).token();
        server.close();
        assertThatThrownBy(() -> two.leases.status(id).block(LIMIT)).isInstanceOf(LeasesUnavailableException.class);
        server = new RedisProcess(server.port());
        LeaseStatus status = Objects.requireNonNull(two.leases
                .status(id)
                .repeatWhenEmpty(600, empty -> empty.delayElements(Duration.ofMillis(100)))
                .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100)))
                .block(LIMIT));
        assertThat(status.held())
                .singleElement()
                .satisfies(held -> assertThat(held.token()).isEqualTo(token));
        two.awaitPermits();
        LeaseId other = two.opened();
        assertThat(two.acquire(other, 1)).isTrue();
        assertThat(two.status(other).held().get(0).token()).isGreaterThan(token);
        assertThat(Gateway.again(two.leases.release(id))).isTrue();
        assertThat(two.acquire(two.opened(), 2))
                .as("the permits of the lease come back")
                .isTrue();
    }

    @Test
    void holders_at_both_gateways_never_work_on_more_than_the_pool_has() throws Exception {
        AtomicInteger working = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ExecutorService holders = Executors.newFixedThreadPool(8);
        try {
            List<Callable<Integer>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                SplittableRandom random = new SplittableRandom(i);
                all.add(() -> {
                    for (int round = 0; round < 15; round++) {
                        hold(random, working, most);
                    }
                    return 0;
                });
            }
            for (Future<Integer> each : holders.invokeAll(all)) {
                each.get();
            }
        } finally {
            holders.shutdownNow();
        }
        assertThat(most.get()).isBetween(2, PERMITS);
        assertThat(Gateway.again(gateways.get(0).leases.count()).open()).isZero();
    }

    private void hold(SplittableRandom random, AtomicInteger working, AtomicInteger most) throws InterruptedException {
        LeaseId id = gateways.get(random.nextInt(2)).opened();
        assertThat(gateways.get(random.nextInt(2)).acquire(id, 1)).isTrue();
        most.accumulateAndGet(working.incrementAndGet(), Math::max);
        TimeUnit.MILLISECONDS.sleep(random.nextInt(10));
        working.decrementAndGet();
        Gateway.again(gateways.get(random.nextInt(2)).leases.release(id)); // false if an answer was lost
    }
}

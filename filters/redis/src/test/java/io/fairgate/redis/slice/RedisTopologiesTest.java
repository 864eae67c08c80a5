package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.SliceStatus;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A pool on a Redis Cluster, and on a server that sentinels know. */
class RedisTopologiesTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String HAS_LEDGER = "EXISTS fairgate:{orders}:ledger";

    private static PermitPool pool(RedisPools pools) {
        return pools.newPool(
                "orders", PoolSettings.ofPermits(3).withMaxWait(LIMIT), TenantShares.EQUAL, PoolListener.NONE);
    }

    private static SliceStatus await(PermitPool pool, String what, Predicate<SliceStatus> condition)
            throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        SliceStatus slice = Objects.requireNonNull(pool.slice());
        while (!condition.test(slice)) {
            assertThat(System.nanoTime()).as("%s: %s", what, slice).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(20);
            slice = Objects.requireNonNull(pool.slice());
        }
        return slice;
    }

    private static void assertServes(PermitPool pool) {
        HeldPermits held = pool.acquire(PermitRequest.of("a").withPermits(3)).block(LIMIT);
        Objects.requireNonNull(held).release();
    }

    @Test
    void a_cluster() throws Exception {
        try (RedisProcess node = RedisProcess.cluster();
                RedisConnections connections = new RedisConnections(new RedisAddress(
                        List.of(RedisURI.create("127.0.0.1", node.port())), true, SslOptions.create()));
                RedisPools pools = new RedisPools(connections, Duration.ZERO, OutagePolicy.FAIL_CLOSED)) {
            PermitPool pool = pool(pools);
            await(pool, "all permits", slice -> slice.permits() == 3);
            assertServes(pool);
            pool.close(Duration.ZERO).block(LIMIT);
        }
    }

    @Test
    void a_failover_by_sentinels() throws Exception {
        try (RedisProcess first = RedisProcess.withReplica();
                RedisProcess second = first.replica();
                RedisProcess sentinel = first.sentinel();
                RedisConnections connections = new RedisConnections(
                        RedisAddress.of(RedisURI.Builder.sentinel("127.0.0.1", sentinel.port(), "main")
                                .build()));
                RedisPools pools = new RedisPools(connections, Duration.ofSeconds(1), OutagePolicy.FAIL_CLOSED)) {
            PermitPool pool = pool(pools);
            SliceStatus before = await(pool, "all permits", slice -> slice.permits() == 3);
            await(sentinel, "SENTINEL replicas main", "*1");
            await(second, HAS_LEDGER, ":1");
            first.kill();
            await(pool, "an answer of the other server", slice -> slice.isInForce() && slice.epoch() > before.epoch());
            await(pool, "all permits", slice -> slice.permits() == 3);
            assertServes(pool);
            assertThat(second.answer(HAS_LEDGER)).isEqualTo(":1");
            pool.close(Duration.ZERO).block(LIMIT);
        }
    }

    /** Waits for an answer. Only a replica that the sentinel knows, and that has the data, can take over. */
    private static void await(RedisProcess server, String question, String answer) throws Exception {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!server.answer(question).equals(answer)) {
            assertThat(System.nanoTime()).as("%s: %s", question, answer).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }
}

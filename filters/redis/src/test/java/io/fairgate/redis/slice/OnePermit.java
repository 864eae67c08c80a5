package io.fairgate.redis.slice;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.shares.TenantShares;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import reactor.core.publisher.Mono;

/** Gateways on a real Redis that all want the only permit of a pool, all the time. */
final class OnePermit {

    private static final Duration HOLD = Duration.ofMillis(20);
    private static final int CLIENTS = 4;
    private static final Duration UNTIL_STEADY = Duration.ofSeconds(8);
    private static final Duration MEASURED = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RedisAddress redis;
    private final AtomicLong served = new AtomicLong();
    private final AtomicBoolean isOver = new AtomicBoolean();

    OnePermit(RedisAddress redis) {
        this.redis = redis;
    }

    /** Each with connections of its own. */
    private static final class Gateway implements AutoCloseable {
        private final RedisConnections connections;
        private final RedisPools pools;
        final PermitPool pool;

        Gateway(RedisAddress redis, String name) {
            connections = new RedisConnections(redis);
            pools = new RedisPools(connections, Duration.ofSeconds(1), OutagePolicy.FAIL_CLOSED);
            pool = pools.newPool(name, PoolSettings.ofPermits(1), TenantShares.EQUAL, PoolListener.NONE);
        }

        @Override
        public void close() {
            pool.close(HOLD).block(PATIENCE);
            pools.close();
            connections.close();
        }
    }

    /** The requests that so many gateways together serve in a second. */
    double perSecond(int gateways) throws InterruptedException {
        List<Gateway> all = IntStream.range(0, gateways)
                .mapToObj(i -> new Gateway(redis, "one-of-" + gateways))
                .toList();
        all.forEach(gateway -> keepBusy(gateway.pool));
        Thread.sleep(UNTIL_STEADY.toMillis());
        long before = served.get();
        Thread.sleep(MEASURED.toMillis());
        double perSecond = (served.get() - before) * 1e3 / MEASURED.toMillis();
        isOver.set(true);
        all.forEach(Gateway::close);
        return perSecond;
    }

    private void keepBusy(PermitPool pool) {
        PermitRequest request = PermitRequest.of("tenant").withMaxWait(PATIENCE);
        for (int i = 0; i < CLIENTS; i++) {
            pool.withPermit(request, Mono.delay(HOLD).doOnNext(done -> served.incrementAndGet()))
                    .repeat(() -> !isOver.get())
                    .subscribe(done -> {}, refused -> {});
        }
    }
}

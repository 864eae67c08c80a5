package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.shares.TenantShares;
import io.fairgate.time.MonotonicScheduler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Two gateways' pools on a real Redis. */
class RedisLedgerTest {

    private static final int PERMITS = 10;
    private static final int CONNECTIONS = 30;
    private static final Duration FAILOVER = Duration.ofMillis(700);
    private static final SliceScripts SCRIPTS = new SliceScripts(SliceTerm.USUAL, FAILOVER.toMillis());
    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final AtomicInteger inUse = new AtomicInteger();
    private final AtomicInteger mostInUse = new AtomicInteger();
    private final AtomicInteger unavailable = new AtomicInteger();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final List<Gateway> gateways = new ArrayList<>();
    private RedisProcess server;
    private RedisClient client;
    private RedisConnections connections;
    /** Without other commands, which could give them up on a busy machine. */
    private RedisConnections ownConnections;

    private RedisPools pools;
    private StatefulRedisConnection<String, String> redis;

    @BeforeEach
    void start() throws IOException {
        server = new RedisProcess();
        RedisURI uri = RedisURI.create("127.0.0.1", server.port());
        uri.setTimeout(Duration.ofSeconds(10));
        client = RedisClient.create(uri);
        redis = client.connect();
        connections = new RedisConnections(RedisAddress.of(uri));
        ownConnections = new RedisConnections(RedisAddress.of(uri));
        pools = new RedisPools(connections, FAILOVER, OutagePolicy.FAIL_CLOSED);
        gateways.add(new Gateway("a"));
        gateways.add(new Gateway("b"));
    }

    @AfterEach
    void stop() {
        isOver.set(true);
        gateways.forEach(Gateway::end);
        pools.close();
        connections.close();
        ownConnections.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        server.close();
    }

    /** A gateway with one tenant that would use all permits. */
    private final class Gateway {

        private final PermitPool pool;
        private final AtomicInteger own = new AtomicInteger();
        private final AtomicInteger served = new AtomicInteger();
        private final PermitRequest request;

        Gateway(String tenant) {
            request = PermitRequest.of(tenant);
            pool = pools.newPool("orders", PoolSettings.ofPermits(PERMITS), TenantShares.EQUAL, PoolListener.NONE);
        }

        void sendAll() {
            for (int i = 0; i < CONNECTIONS; i++) {
                send();
            }
        }

        void end() {
            pool.close(Duration.ZERO).block(Duration.ofSeconds(30));
        }

        private void send() {
            if (!isOver.get()) {
                pool.acquire(request).subscribe(this::granted, this::refused);
            }
        }

        private void granted(HeldPermits held) {
            mostInUse.accumulateAndGet(inUse.incrementAndGet(), Math::max);
            own.incrementAndGet();
            served.incrementAndGet();
            later(5, () -> {
                own.decrementAndGet();
                inUse.decrementAndGet();
                held.release();
                send();
            });
        }

        private void refused(Throwable error) {
            if (error instanceof PoolUnavailableException) {
                unavailable.incrementAndGet();
            }
            later(20, this::send);
        }
    }

    private static void later(long millis, Runnable action) {
        var unused = MonotonicScheduler.INSTANCE.schedule(action, millis, TimeUnit.MILLISECONDS);
    }

    private static void eventually(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + LIMIT_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private long version() {
        return Long.parseLong(redis.sync().hget(SliceScripts.keys("orders")[0], "version"));
    }

    private void awaitBothServed(String when) throws InterruptedException {
        int a = gateways.get(0).served.get();
        int b = gateways.get(1).served.get();
        eventually(
                "both gateways serve " + when,
                () -> gateways.get(0).served.get() > a + 100
                        && gateways.get(1).served.get() > b + 100);
    }

    @Test
    void two_gateways_never_use_more_than_the_pool_also_when_redis_is_killed_and_started_again() throws Exception {
        gateways.forEach(Gateway::sendAll);
        awaitBothServed("at first");
        eventually("half of the pool each", () -> gateways.stream().allMatch(gateway -> gateway.own.get() == 5));
        int before = unavailable.get();

        server.close();
        eventually("requests find no slice", () -> unavailable.get() > before + 100);
        eventually("nothing is in use", () -> inUse.get() == 0);

        server = new RedisProcess(server.port());
        awaitBothServed("again");
        assertThat(mostInUse.get()).isLessThanOrEqualTo(PERMITS);
    }

    @Test
    void a_gateway_gets_permits_that_another_one_gives_back() throws Exception {
        Gateway first = gateways.get(0);
        Gateway second = gateways.get(1);
        first.sendAll();
        eventually("nearly the whole pool", () -> first.own.get() >= PERMITS - 1);
        second.sendAll();
        eventually("half of the pool each", () -> first.own.get() == 5 && second.own.get() == 5);
        second.end();
        eventually("nearly the whole pool again", () -> first.own.get() >= PERMITS - 1);
        assertThat(mostInUse.get()).isLessThanOrEqualTo(PERMITS);
    }

    @Test
    void scripts_that_redis_has_forgotten_are_sent_again() throws Exception {
        gateways.forEach(Gateway::sendAll);
        awaitBothServed("at first");
        long before = version();
        redis.sync().scriptFlush();
        eventually("heartbeats after the scripts were removed", () -> version() > before + 20);
        awaitBothServed("after the scripts were removed");
    }

    @Test
    void permits_that_become_free_are_told() throws Exception {
        RedisLedger ledger = new RedisLedger("refunds", SCRIPTS, ownConnections);
        RedisLedger other = new RedisLedger("others", SCRIPTS, ownConnections);
        AtomicInteger told = new AtomicInteger();
        AtomicInteger toldOther = new AtomicInteger();
        Disposable listening = ledger.onFreePermits(told::incrementAndGet);
        Disposable unused = other.onFreePermits(toldOther::incrementAndGet);
        AtomicLong sequence = new AtomicLong();
        eventually("a slice", () -> slice(ledger, "one", sequence, 0, 5, false) == 5);
        assertThat(slice(ledger, "one", sequence, 5, 6, false)).isEqualTo(6);
        assertThat(slice(ledger, "one", sequence, 6, 6, false)).isEqualTo(6);
        assertTold(told, 1);
        assertThat(slice(ledger, "one", sequence, 4, 4, false)).isEqualTo(4);
        assertTold(told, 3);
        assertThat(slice(ledger, "one", sequence, 0, 0, true)).isZero();
        assertTold(told, 5);
        assertThat(slice(ledger, "two", sequence, 0, 4, false)).isEqualTo(4);
        eventually(
                "the end of a silent node", () -> slice(ledger, "three", sequence, 0, 0, false) == 0 && told.get() > 5);
        assertThat(toldOther).hasValue(0);

        listening.dispose();
        eventually("no subscription", () -> subscribers("refunds") == 0);
        assertThat(subscribers("others")).isOne();
    }

    @Test
    void a_call_is_told_to_all_that_listen_to_the_same_pool() throws Exception {
        RedisLedger ledger = new RedisLedger("calls", SCRIPTS, ownConnections);
        AtomicInteger told = new AtomicInteger();
        AtomicInteger toldOther = new AtomicInteger();
        Disposable listening = ledger.onCall(told::incrementAndGet);
        Disposable unused = new RedisLedger("uncalled", SCRIPTS, ownConnections).onCall(toldOther::incrementAndGet);
        ledger.callNodes().block();
        eventually("a subscription", () -> subscribersOf(SliceScripts.calls("calls")) == 1);
        ledger.callNodes().block();
        ledger.callNodes().block();
        eventually("calls", () -> told.get() >= 2);
        assertThat(toldOther).hasValue(0);

        listening.dispose();
        eventually("no subscription", () -> subscribersOf(SliceScripts.calls("calls")) == 0);
    }

    private long subscribers(String pool) {
        return subscribersOf(SliceScripts.channel(pool));
    }

    private long subscribersOf(String channel) {
        return Objects.requireNonNull(redis.sync().pubsubNumsub(channel).get(channel));
    }

    /** With one more message, which comes after those of the scripts. */
    private void assertTold(AtomicInteger told, int expected) throws InterruptedException {
        redis.sync().publish(SliceScripts.channel("refunds"), "");
        eventually("messages", () -> told.get() >= expected);
        assertThat(told).hasValue(expected);
    }

    private static int slice(
            RedisLedger ledger, String node, AtomicLong sequence, int kept, int wanted, boolean isLast) {
        Heartbeat beat = new Heartbeat(
                node, sequence.incrementAndGet(), LedgerVersion.NONE, kept, wanted, PERMITS, List.of(), "", isLast);
        return Objects.requireNonNull(ledger.heartbeat(beat).block(Duration.ofSeconds(30)))
                .slice();
    }
}

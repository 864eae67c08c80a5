package io.fairgate.redis.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.LeaseCount;
import io.fairgate.lease.LeaseHolder;
import io.fairgate.lease.LeaseId;
import io.fairgate.lease.LeaseRequest;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.redis.RedisPools;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.redis.lease.RedisLeases;
import io.fairgate.redis.quota.QuotaOutagePolicy;
import io.fairgate.redis.quota.RedisQuotas;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.util.retry.Retry;

/** Pools and quotas as a user of Redis with the permissions that docs/cluster.md shows, and no others. */
class RedisUserTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String PASSWORD = "s3cret";

    private RedisProcess server;

    @BeforeEach
    void start() throws IOException {
        server = new RedisProcess();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static String commandOfPage() throws IOException {
        return Files.readAllLines(Path.of("..", "..", "docs", "cluster.md")).stream()
                .filter(line -> line.startsWith("ACL SETUSER fairgate "))
                .findFirst()
                .orElseThrow()
                .replace("SECRET", PASSWORD);
    }

    private RedisURI uri(String password) {
        return RedisURI.builder()
                .withHost("127.0.0.1")
                .withPort(server.port())
                .withAuthentication("fairgate", password.toCharArray())
                .withClientName("fairgate")
                .build();
    }

    private void assertServes(String command) throws IOException {
        assertThat(server.answer(command)).isEqualTo("+OK");
        assertServes(RedisAddress.of(uri(PASSWORD)));
    }

    private static void assertServes(RedisAddress address) {
        try (RedisConnections connections = new RedisConnections(address);
                RedisPools pools = new RedisPools(connections, Duration.ZERO, OutagePolicy.FAIL_CLOSED)) {
            PermitPool pool = pools.newPool(
                    "orders", PoolSettings.ofPermits(3).withMaxWait(LIMIT), TenantShares.EQUAL, PoolListener.NONE);
            awaitPermit(pool).release();
            assertLeases(pools, pool);
            pool.close(Duration.ZERO).block(LIMIT);
            assertCharges(connections);
        }
    }

    private static void assertLeases(RedisPools pools, PermitPool pool) {
        RedisLeases leases = pools.newLeases(name -> pool);
        TenantId tenant = TenantId.of("a");
        LeaseId id = LeaseId.random();
        Duration ttl = Duration.ofMinutes(1);
        // Until the first recovery is over, calls error.
        assertThat(leases.open(id, LeaseHolder.of(tenant, "batch"), new LeaseTerm(ttl, ttl))
                        .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100)))
                        .block(LIMIT))
                .isTrue();
        assertThat(leases.acquire(id, LeaseRequest.of("orders", 1, ttl, ttl)).block(LIMIT))
                .isTrue();
        assertThat(leases.extend(id, ttl).block(LIMIT)).isNotNull();
        assertThat(leases.ids(tenant).collectList().block(LIMIT)).containsExactly(id);
        assertThat(leases.count().block(LIMIT)).isEqualTo(new LeaseCount(1, 1, 0));
        assertThat(leases.waiting("orders").block(LIMIT)).isNotNull();
        assertThat(leases.release(id).block(LIMIT)).isTrue();
        leases.close().block(LIMIT);
    }

    private static void assertCharges(RedisConnections connections) {
        QuotaSet set = QuotaSet.of(
                TenantId.of("a"),
                new Quota.Total("total", 3),
                new Quota.Calendar("daily", 3, CalendarUnit.DAY, ZoneOffset.UTC));
        try (RedisQuotas quotas = RedisQuotas.start(connections, QuotaOutagePolicy.FAIL_CLOSED)) {
            QuotaCharge charge = quotas.newCharge(set, 3);
            assertThat(charge.charge().map(QuotaDecision::allowed).block(LIMIT)).isTrue();
            charge.settle(1).block(LIMIT);
            assertThat(quotas.check(set, 3).map(QuotaDecision::allowed).block(LIMIT))
                    .isFalse();
        }
    }

    /** Until the first recovery of Redis is over, requests error. */
    private static HeldPermits awaitPermit(PermitPool pool) {
        return Objects.requireNonNull(pool.acquire(PermitRequest.of("a"))
                .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100)))
                .block(LIMIT));
    }

    @Test
    void the_permissions_of_the_page_are_enough() throws IOException {
        assertServes(commandOfPage());
        assertThat(server.forbidden()).isEmpty();
    }

    @Test
    void it_serves_without_what_the_page_says_it_can_do_without() throws IOException {
        String less = commandOfPage()
                .replace(" +info", "")
                .replace(" +publish", "")
                .replace(" +subscribe", "")
                .replace(" +unsubscribe", "");
        assertThat(less).isNotEqualTo(commandOfPage());
        assertServes(less);
    }

    @Test
    void in_a_cluster_it_needs_two_more() throws IOException {
        server.close();
        server = RedisProcess.cluster();
        String command = commandOfPage() + " +cluster|nodes +cluster|myid";
        assertThat(server.answer(command)).isEqualTo("+OK");
        assertServes(new RedisAddress(List.of(uri(PASSWORD)), true, SslOptions.create()));
        assertThat(server.forbidden()).isEmpty();
    }

    @Test
    void a_wrong_password_is_told() throws Exception {
        assertThat(server.answer(commandOfPage())).isEqualTo("+OK");
        try (RedisConnections connections = new RedisConnections(RedisAddress.of(uri("another")));
                RedisPools pools = new RedisPools(connections, Duration.ZERO, OutagePolicy.FAIL_CLOSED)) {
            PermitPool pool = pools.newPool("orders", PoolSettings.ofPermits(3), TenantShares.EQUAL, PoolListener.NONE);
            long end = System.nanoTime() + LIMIT.toNanos();
            while (!failure(pool).contains("WRONGPASS")) {
                assertThat(System.nanoTime()).as(failure(pool)).isLessThan(end);
                TimeUnit.MILLISECONDS.sleep(20);
            }
            pool.close(Duration.ZERO).block(LIMIT);
        }
    }

    private static String failure(PermitPool pool) {
        return String.valueOf(Objects.requireNonNull(pool.slice()).failure());
    }
}

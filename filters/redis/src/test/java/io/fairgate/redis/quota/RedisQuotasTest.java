package io.fairgate.redis.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.QuotasUnavailableException;
import io.fairgate.redis.connection.RedisAddress;
import io.fairgate.redis.connection.RedisConnections;
import io.fairgate.redis.connection.RedisProcess;
import io.fairgate.tenant.TenantId;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.util.retry.Retry;

/** The quotas of two gateways at a real Redis, on its own clock. */
class RedisQuotasTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Quota TOTAL = new Quota.Total("total", 1_000);
    private static final QuotaSet SET = QuotaSet.of(TenantId.of("acme"), TOTAL);

    private RedisProcess server;
    private RedisConnections connections;
    private RedisQuotas one;
    private RedisQuotas two;

    @BeforeEach
    void start() throws IOException {
        server = new RedisProcess();
        connections = new RedisConnections(RedisAddress.of(RedisURI.create("127.0.0.1", server.port())));
        one = RedisQuotas.start(connections, QuotaOutagePolicy.FAIL_CLOSED);
        two = RedisQuotas.start(connections, QuotaOutagePolicy.FAIL_CLOSED);
    }

    @AfterEach
    void stop() {
        one.close();
        two.close();
        connections.close();
        server.close();
    }

    private static QuotaDecision charged(QuotaCharge charge) {
        return Objects.requireNonNull(charge.charge().block(LIMIT));
    }

    private static List<Balance> balances(Quotas quotas, QuotaSet set) {
        return Objects.requireNonNull(quotas.balances(set)
                .retryWhen(Retry.fixedDelay(600, Duration.ofMillis(100))
                        .filter(QuotasUnavailableException.class::isInstance))
                .block(LIMIT));
    }

    private static long left(Quotas quotas) {
        return balances(quotas, SET).get(0).remaining();
    }

    @Test
    void many_requests_at_two_gateways_get_the_limit_to_the_unit() {
        long passed = Objects.requireNonNull(Flux.range(0, 3_000)
                .flatMap(i -> (i % 2 == 0 ? one : two).newCharge(SET, 1).charge(), 100)
                .filter(QuotaDecision::allowed)
                .count()
                .block(LIMIT));
        assertThat(passed).isEqualTo(1_000);
        assertThat(left(one)).isZero();
    }

    @Test
    void windows_are_those_of_the_clock_of_redis() {
        QuotaSet set =
                QuotaSet.of(TenantId.of("acme"), new Quota.Calendar("monthly", 5, CalendarUnit.MONTH, ZoneOffset.UTC));
        assertThat(charged(one.newCharge(set, 5)).allowed()).isTrue();
        QuotaDecision refused = charged(two.newCharge(set, 1));
        Instant end = Instant.now().plus(refused.retryAfter());
        assertThat(end.plusSeconds(30).atZone(ZoneOffset.UTC))
                .as("the first of a month, within half a minute")
                .matches(day -> day.getDayOfMonth() == 1 && day.toLocalTime().toSecondOfDay() < 60);
    }

    @Test
    void a_settlement_waits_for_a_redis_that_is_killed_and_started_again() throws IOException {
        QuotaCharge charge = one.newCharge(SET, 600);
        assertThat(charged(charge).allowed()).isTrue();
        server.kill();
        CompletableFuture<Void> settled = charge.settle(0).toFuture();
        assertThat(two.newCharge(SET, 1)
                        .charge()
                        .map(QuotaDecision::allowed)
                        .onErrorReturn(false)
                        .block(LIMIT))
                .isFalse();
        assertThat(settled).isNotDone();
        server = new RedisProcess(server.port());
        assertThat(settled).succeedsWithin(LIMIT);
        // What it lost is unused again: the settlement gives back nothing more.
        assertThat(left(one)).isEqualTo(1_000);
        assertThat(left(two)).isEqualTo(1_000);
        assertThat(charged(two.newCharge(SET, 600)).allowed()).isTrue();
        assertThat(left(two)).isEqualTo(400);
    }

    @Test
    void what_is_given_back_at_the_end_arrives() {
        QuotaCharge charge = one.newCharge(SET, 600);
        assertThat(charged(charge).allowed()).isTrue();
        for (int i = 0; i < 1_000; i++) {
            one.check(SET, 1).subscribe();
        }
        charge.settle(0).subscribe();
        one.close();
        connections.close();
        connections = new RedisConnections(RedisAddress.of(RedisURI.create("127.0.0.1", server.port())));
        assertThat(left(RedisQuotas.start(connections, QuotaOutagePolicy.FAIL_CLOSED)))
                .isEqualTo(1_000);
    }

    @Test
    void a_server_that_has_no_script_any_more_gets_it_again() throws IOException {
        assertThat(charged(one.newCharge(SET, 1)).allowed()).isTrue();
        assertThat(server.answer("SCRIPT FLUSH")).isEqualTo("+OK");
        assertThat(charged(one.newCharge(SET, 1)).allowed()).isTrue();
        assertThat(left(two)).isEqualTo(998);
    }
}

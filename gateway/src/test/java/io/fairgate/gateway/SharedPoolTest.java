package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two gateways that share the permits of one pool through a real Redis. */
class SharedPoolTest {

    private static final int PERMITS = 4;
    private static final int HOLD_MILLIS = 50;

    @RegisterExtension
    final RunningGateway one = new RunningGateway();

    @RegisterExtension
    final RunningGateway two = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final MeasuredWork work = new MeasuredWork();
    private RedisProcess redis;

    @BeforeEach
    void start() throws IOException {
        redis = new RedisProcess();
        upstream.on("/fair/a", work.of("a", HOLD_MILLIS)).on("/fair/b", work.of("b", HOLD_MILLIS));
        String policy = TestPolicy.onePool(upstream.url(), "permits: %d, max-wait: 20s".formatted(PERMITS));
        String[] options = {"--fairgate.backend=redis", "--spring.data.redis.url=redis://127.0.0.1:" + redis.port()};
        one.start(policy, options);
        two.start(policy, options);
        awaitAnswer(one, 200);
        awaitAnswer(two, 200);
    }

    @AfterEach
    void stop() {
        redis.close();
    }

    private static Answer ask(RunningGateway gateway) {
        return Answer.to(gateway.url("/fair/a"), "X-Tenant-Id", "a");
    }

    private static void awaitAnswer(RunningGateway gateway, int status) {
        eventually(() -> assertThat(ask(gateway).status()).isEqualTo(status));
    }

    private static String slices(RunningGateway gateway) {
        return Answer.to(gateway.managementUrl("/actuator/cluster")).body();
    }

    /** Each gateway shows its own part, on the endpoints and on the page. */
    @Tag("long")
    @Test
    void each_gateway_shows_its_part() {
        eventually(() -> {
            assertThat(slices(one))
                    .contains("\"poolPermits\":4,\"policyPermits\":4,\"gateways\":2,", "\"inForce\":true");
            assertThat(slices(two)).contains("\"gateways\":2,");
        });
        assertThat(Answer.to(one.managementUrl("/actuator/pools")).body()).contains("\"permits\":4,\"permitsHere\":");
    }

    private static MetricsPage page(RunningGateway gateway) {
        return MetricsPage.upToDate(gateway);
    }

    private static String health(RunningGateway gateway) {
        return Answer.to(gateway.managementUrl("/actuator/health")).body();
    }

    @Test
    void a_quiet_tenant_at_one_gateway_gets_its_half_beside_a_noisy_one_at_the_other() {
        SteadyLoad noisy = new SteadyLoad().keep(40, one.url("/fair/a"), "a");
        SteadyLoad quiet = new SteadyLoad().keep(20, two.url("/fair/b"), "b");
        eventually(() -> assertThat(work.begun("b")).isGreaterThan(20));
        int a = work.begun("a");
        int b = work.begun("b");
        eventually(() -> assertThat(work.begun("b") - b).isGreaterThan(100));
        double part = work.begun("b") - b;
        double all = part + work.begun("a") - a;
        noisy.end();
        quiet.end();
        assertThat(part / all).isCloseTo(0.5, within(0.1));
        assertThat(work.highest()).isEqualTo(PERMITS);
    }

    @Test
    void without_redis_requests_are_refused_and_with_it_they_are_served_again() throws IOException {
        assertThat(health(one)).contains("shared by 2 gateways", "of 4 permits");
        assertThat(page(one).value("fairgate_slice_in_force", "pool", "pool")).isEqualTo(1);
        assertThat(page(one).value("fairgate_slice_round_trip_seconds", "pool", "pool"))
                .isPositive();
        redis.close();
        awaitAnswer(one, 503);
        Answer refused = ask(one);
        assertThat(refused.body()).contains("backend-lost");
        assertThat(refused.field("retry-after")).isEqualTo("1");
        awaitAnswer(two, 503);
        assertThat(health(one)).contains("no answer of Redis for", "requests are refused (backend-lost)");
        assertThat(page(one).value("fairgate_slice_in_force", "pool", "pool")).isZero();
        assertThat(page(one).value("fairgate_slice_permits", "pool", "pool")).isZero();
        assertThat(Answer.to(one.managementUrl("/actuator/health/readiness")).status())
                .isEqualTo(200);
        assertThat(Answer.to(one.url("/plain/x"), "X-Tenant-Id", "a").status())
                .as("without a pool")
                .isEqualTo(200);

        redis = new RedisProcess(redis.port());
        awaitAnswer(one, 200);
        awaitAnswer(two, 200);
        assertThat(work.highest()).isLessThanOrEqualTo(PERMITS);
    }
}

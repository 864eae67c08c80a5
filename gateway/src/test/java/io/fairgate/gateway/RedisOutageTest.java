package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.redis.connection.RedisProcess;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A gateway that goes on while Redis does not answer, because its operator has chosen so. */
@ExtendWith(OutputCaptureExtension.class)
class RedisOutageTest {

    private static final int PERMITS = 8;
    private static final String QUOTA = "\"prepaid\";r=";

    private static final String POLICY = """
            tenants:
              identify:
                - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
              plans:
                plan: { quotas: [ { name: prepaid, limit: 1000000, per: total } ] }
              members:
                a: { plan: plan }
            pools:
              pool: { permits: %d, max-wait: 20s }
            routes:
              - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
            """.formatted(PERMITS);

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private final MeasuredWork work = new MeasuredWork();

    private Answer ask() {
        return Answer.to(gateway.url("/fair/a"), "X-Tenant-Id", "a");
    }

    private double slice(String name) {
        return MetricsPage.upToDate(gateway).value("fairgate_slice_" + name, "pool", "pool");
    }

    /** Loads a gateway, kills Redis, examines the gateway, and starts Redis again. No request must fail meanwhile. */
    private void outage(String outage, int permits, Runnable during) throws IOException {
        RedisProcess redis = new RedisProcess();
        try {
            upstream.on("/fair/a", work.of("a", 20));
            gateway.start(
                    POLICY.replace("UPSTREAM", upstream.url()),
                    "--fairgate.backend=redis",
                    "--spring.data.redis.port=" + redis.port(),
                    "--fairgate.redis.outage=" + outage,
                    "--fairgate.redis.gateways=2",
                    "--fairgate.redis.quota-outage=fail-open");
            eventually(() -> assertThat(ask().field("ratelimit")).contains(QUOTA));
            eventually(() -> assertThat(slice("permits")).isEqualTo(permits));
            SteadyLoad load = new SteadyLoad().keep(16, gateway.url("/fair/a"), "a");
            redis.close();
            eventually(() -> assertThat(slice("outage")).isEqualTo(1));
            eventually(() -> assertThat(
                            Answer.to(gateway.managementUrl("/actuator/health")).body())
                    .contains("requests that have quotas are served and not charged (fail-open)"));
            int begun = work.begun("a");
            eventually(() -> assertThat(work.begun("a")).isGreaterThan(begun + 50));
            during.run();
            assertThat(slice("in_force")).isEqualTo(1);
            assertThat(ask().status()).isEqualTo(200);
            assertThat(ask().field("ratelimit")).isEmpty();
            assertThat(MetricsPage.upToDate(gateway).value("fairgate_quota_uncharged_total"))
                    .isPositive();

            redis = new RedisProcess(redis.port());
            eventually(() -> assertThat(ask().field("ratelimit")).contains(QUOTA));
            eventually(() -> assertThat(slice("outage")).isZero());
            eventually(() -> assertThat(slice("permits")).isEqualTo(permits));
            eventually(() -> assertThat(work.highest()).isEqualTo(permits));
            load.end();
            assertThat(work.highest()).isEqualTo(permits);
        } finally {
            redis.close();
        }
    }

    @Test
    void with_a_reserve_it_goes_on_with_its_own_permits(CapturedOutput output) throws IOException {
        int withoutTheReserveOfTheOther = PERMITS - 1;
        outage("reserve", withoutTheReserveOfTheOther, () -> {
            assertThat(slice("permits")).isEqualTo(1);
            assertThat(Answer.to(gateway.managementUrl("/actuator/health")).body())
                    .contains("\"DOWN\"", "this gateway goes on with 1 of 8 permits");
        });
        assertThat(output.getErr() + output.getOut())
                .contains("Pool pool: no answer of Redis for ", "this gateway goes on with 1 of 8 permits (reserve).");
    }

    @Tag("long")
    @Test
    void an_optimistic_one_goes_on_with_its_part_of_the_pool(CapturedOutput output) throws IOException {
        outage(
                "optimistic",
                PERMITS,
                () -> eventually(() -> assertThat(slice("permits")).isEqualTo(4)));
        assertThat(output.getErr() + output.getOut())
                .contains("this gateway goes on with 4 of 8 permits (optimistic).");
    }
}

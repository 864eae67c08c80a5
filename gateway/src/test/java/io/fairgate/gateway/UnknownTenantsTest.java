package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code unknown: PLAN}: all ids that are not members are together one tenant. */
class UnknownTenantsTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  unknown: guests
                  plans:
                    plan: {}
                    guests:
                      max-in-flight: 1
                      quotas: [ { name: hourly, limit: 6, per: 1h } ]
                  members: { a: { plan: plan } }
                pools:
                  pool: { permits: 4, max-wait: 200ms }
                routes:
                  - id: fair
                    uri: %s
                    predicates: [ "Path=/fair/**" ]
                    filters: [ "FairShare=pool" ]
                """.formatted(upstream.url()));
    }

    @Test
    void unknown_ids_share_one_cap_and_one_quota() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        upstream.on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        CompletableFuture<Answer> held = Answer.future(gateway.url("/fair/held"), "X-Tenant-Id", "one");
        gateway.awaitInFlight("pool", 1);
        Answer other = Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "two");
        assertThat(other.status()).as("the cap is 1").isEqualTo(429);
        assertThat(other.json("reason")).isEqualTo("tenant-cap");
        assertThat(Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "a").status())
                .as("a member has its own")
                .isEqualTo(200);
        end.countDown();
        assertThat(held.join().field("RateLimit")).startsWith("\"hourly\";r=5;t=");

        for (int left = 4; left >= 0; left--) {
            assertThat(Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "guest-" + left)
                            .field("RateLimit"))
                    .startsWith("\"hourly\";r=" + left + ";t=");
        }
        assertThat(Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "yet-another")
                        .status())
                .isEqualTo(429);
        assertThat(gateway.pool("pool").tenants()).hasSize(2);
        assertThat(Answer.to(gateway.managementUrl("/actuator/prometheus")).body())
                .contains(
                        "fairgate_refusals_total{enforced=\"true\",pool=\"none\",reason=\"quota\",tenant=\"_other\"} 1.0")
                .contains("fairgate_quota_remaining{quota=\"hourly\",tenant=\"_other\"} 0.0")
                .doesNotContain("guest", "yet-another");
    }
}

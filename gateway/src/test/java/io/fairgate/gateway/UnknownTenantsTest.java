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
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    @BeforeAll
    static void start() {
        both.start("""
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
                """ + GatewayAndUpstream.FAIR_ROUTE.replace("permits: 4", "permits: 4, max-wait: 200ms"));
    }

    @Test
    void unknown_ids_share_one_cap_and_one_quota() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(end);
            ScriptedUpstream.OK.answer(exchange);
        });
        CompletableFuture<Answer> held = Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "one");
        both.gateway().awaitInFlight("pool", 1);
        Answer other = both.ask("/fair/x", "X-Tenant-Id", "two");
        assertThat(other.status()).as("the cap is 1").isEqualTo(429);
        assertThat(other.json("reason")).isEqualTo("tenant-cap");
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "a").status())
                .as("a member has its own")
                .isEqualTo(200);
        end.countDown();
        assertThat(held.join().field("RateLimit")).startsWith("\"hourly\";r=5;t=");

        for (int left = 4; left >= 0; left--) {
            assertThat(both.ask("/fair/x", "X-Tenant-Id", "guest-" + left).field("RateLimit"))
                    .startsWith("\"hourly\";r=" + left + ";t=");
        }
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "yet-another").status()).isEqualTo(429);
        assertThat(both.gateway().pool("pool").tenants())
                .extracting(tenant -> tenant.tenant().value())
                .isSubsetOf("a", "_unknown");
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/prometheus"))
                        .body())
                .contains(
                        "fairgate_refusals_total{enforced=\"true\",pool=\"none\",reason=\"quota\",tenant=\"_other\"} 1.0")
                .contains("fairgate_quota_remaining{quota=\"hourly\",tenant=\"_other\"} 0.0")
                .doesNotContain("guest", "yet-another");
    }
}

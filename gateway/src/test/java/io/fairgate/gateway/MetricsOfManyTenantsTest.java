package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A page of metrics with more tenants than may have their own time series. */
@Tag("long")
class MetricsOfManyTenantsTest {

    private static final List<String> MEMBERS = List.of("a", "b", "c", "d", "e");

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
                  plans:
                    plain: { quotas: [ { name: daily, limit: 1000, per: day } ] }
                  members:
                    a: { plan: plain }
                    b: { plan: plain }
                    c: { plan: plain }
                    d: { plan: plain }
                    e: { plan: plain }
                metrics: { tenants: [e] }
                pools:
                  pool: { permits: 2 }
                routes:
                  - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
                """.replace("UPSTREAM", upstream.url()), "--fairgate.metrics.tenants=2");
    }

    @Test
    void active_and_named_tenants_have_series_and_every_request_is_counted_once() {
        int requests = 0;
        for (int round = 0; round < 3; round++) {
            for (String tenant : MEMBERS) {
                assertThat(Answer.future(gateway.url("/fair/x"), "X-Tenant-Id", tenant)
                                .join()
                                .status())
                        .isEqualTo(200);
                requests++;
            }
            int expected = requests;
            RunningGateway.eventually(() -> {
                MetricsPage page = MetricsPage.of(gateway);
                assertThat(sum(page, "fairgate_hold_seconds_count")).isEqualTo((double) expected);
                assertThat(page.tagValues("fairgate_tenant_", "tenant"))
                        .contains("e", "_other")
                        .hasSize(4);
                assertThat(page.tagValues("fairgate_quota_", "tenant"))
                        .contains("e")
                        .hasSize(3);
            });
        }
    }

    private static double sum(MetricsPage page, String name) {
        return page.samples().entrySet().stream()
                .filter(sample -> sample.getKey().startsWith(name + "{"))
                .mapToDouble(sample -> sample.getValue())
                .sum();
    }
}

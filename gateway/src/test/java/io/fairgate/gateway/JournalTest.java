package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.PolicyReader;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.quota.journal.UnusableJournalException;
import io.fairgate.spring.policyfile.PolicySource;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** Quotas that are kept over a restart of the gateway. */
class JournalTest {

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @TempDir
    private Path directory = Path.of("");

    private ConfigurableApplicationContext start(Path journal) {
        String policy = """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  plans: { free: { quotas: [ { name: prepaid, limit: 500, per: total } ] } }
                  members: { acme: { plan: free } }
                pools: { pool: { permits: 2 } }
                routes:
                  - { id: fair, uri: "UPSTREAM", predicates: [ "Path=/fair/**" ], filters: [ "FairShare=pool" ] }
                """.replace("UPSTREAM", upstream.url());
        return new GatewayRun(new PolicySource("test.yml", PolicyReader.read("test.yml", policy), null))
                .start(
                        Map.of("logging.level.root", "off"),
                        "--server.address=127.0.0.1",
                        "--server.port=0",
                        "--management.server.port=0",
                        "--fairgate.shutdown-grace=0s",
                        "--fairgate.quotas.journal=" + journal);
    }

    private static Answer ask(ConfigurableApplicationContext gateway) {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        return Answer.to("http://127.0.0.1:" + port + "/fair/x", "X-Tenant-Id", "acme");
    }

    @Test
    void a_stopped_gateway_keeps_the_exact_usage() {
        Path journal = directory.resolve("usage");
        try (ConfigurableApplicationContext gateway = start(journal)) {
            for (int left = 499; left >= 493; left--) {
                assertThat(ask(gateway).field("RateLimit")).isEqualTo("\"prepaid\";r=" + left);
            }
        }
        try (ConfigurableApplicationContext gateway = start(journal)) {
            assertThat(ask(gateway).field("RateLimit")).isEqualTo("\"prepaid\";r=492");
        }
    }

    @Test
    void health_shows_whether_the_journal_is_written() {
        Path journal = directory.resolve("usage");
        try (ConfigurableApplicationContext gateway = start(journal)) {
            String port = gateway.getEnvironment().getProperty("local.management.port");
            Answer health = Answer.to("http://127.0.0.1:" + port + "/actuator/health");
            assertThat(health.status()).isEqualTo(200);
            assertThat(health.body())
                    .contains("\"fairgateJournal\":{\"details\":{\"file\":\"" + journal + "\",\"written\":true}");
        }
    }

    @Test
    void an_unusable_journal_stops_the_start() {
        assertThatThrownBy(() -> start(directory.resolve("missing").resolve("usage")))
                .hasRootCauseInstanceOf(UnusableJournalException.class)
                .rootCause()
                .hasMessageContaining(": no such directory ");
    }
}

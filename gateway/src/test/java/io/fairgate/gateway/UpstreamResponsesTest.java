package io.fairgate.gateway;

import static io.fairgate.gateway.RunningGateway.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What upstreams answer is counted by route and status, on both ways of forwarding, and what Fairgate answers is not. */
class UpstreamResponsesTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private static ScriptedUpstream.Script status(int status) {
        return exchange -> exchange.send("HTTP/1.1 %d Text\r\nContent-Length: 0\r\n\r\n".formatted(status));
    }

    private int ask(String path) {
        return both.ask(path, "X-Tenant-Id", "a").status();
    }

    private double counted(String status) {
        return MetricsPage.of(both.gateway())
                .value("fairgate_upstream_responses_total", "route", "fair", "status", status);
    }

    @ParameterizedTest
    @ValueSource(strings = {"direct", "filter-chain"})
    void responses_are_counted_by_the_class_of_their_status(String forwarding) {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 4")
                        .replace("\"FairShare=pool\"", "\"FairShare=pool\", \"Retry=2\""),
                "--fairgate.forwarding=" + forwarding);
        both.upstream()
                .on("/fair/moved", status(304))
                .on("/fair/missing", status(404))
                .on("/fair/broken", status(500))
                .on("/fair/odd", status(700))
                .on("/fair/lost", exchange -> exchange.reset());
        assertThat(ask("/fair/x")).isEqualTo(200);
        assertThat(counted("2xx")).isEqualTo(1);
        assertThat(MetricsPage.of(both.gateway())
                        .has("fairgate_upstream_responses_total", "route", "fair", "status", "5xx"))
                .isTrue();
        assertThat(ask("/fair/moved")).isEqualTo(304);
        assertThat(ask("/fair/missing")).isEqualTo(404);
        assertThat(ask("/fair/broken")).isEqualTo(500);
        assertThat(ask("/fair/odd")).isEqualTo(700);
        assertThat(ask("/fair/lost")).isEqualTo(502);
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "nobody").status()).isEqualTo(403);
        eventually(() -> {
            assertThat(counted("3xx")).isEqualTo(1);
            assertThat(counted("4xx")).isEqualTo(1);
            assertThat(counted("5xx")).isEqualTo(3); // It was tried again twice.
            assertThat(counted("other")).isEqualTo(1);
        });
        assertThat(counted("2xx")).isEqualTo(1);
    }
}

package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.trace.TraceSettings;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Traces with other settings than those of {@link TraceTest}. */
class TraceSettingsTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private TraceCollector collector;

    @BeforeEach
    void open() throws IOException {
        collector = new TraceCollector();
    }

    @AfterEach
    void close() {
        collector.close();
    }

    private void start(String... options) {
        both.start(TraceTest.policy("UPSTREAM"), options);
    }

    @Test
    void in_the_chain_of_filters_it_is_the_same() {
        start(
                "--fairgate.forwarding=filter-chain",
                "--fairgate.tracing.endpoint=" + collector.endpoint(),
                "--fairgate.tracing.service=edge");
        TraceTest.assertContinues(both, both.gateway(), collector, "edge");
    }

    @Test
    void a_trace_that_is_not_sampled_is_passed_on_and_not_sent() {
        start("--fairgate.tracing.sampled=0", "--fairgate.tracing.endpoint=" + collector.endpoint());
        Answer answer = both.ask("/plain/x", "X-Tenant-Id", "a");
        assertThat(both.got("traceparent").get(0))
                .matches("traceparent: 00-" + answer.field("X-Request-Id") + "-[0-9a-f]{16}-0[02]");
        TraceTest.flush(both.gateway());
        assertThat(collector.spans()).isEmpty();
    }

    @Test
    void without_an_endpoint_nothing_is_traced_and_fields_pass_as_they_are() {
        start();
        Answer answer =
                both.ask("/plain/x", "X-Tenant-Id", "a", "traceparent", "as it is", "X-Request-Id", "two words");
        assertThat(answer.field("X-Request-Id")).isEmpty();
        assertThat(both.got("traceparent")).containsExactly("traceparent: as it is");
        assertThat(both.got("X-Request-Id")).containsExactly("X-Request-Id: two words");
        assertThat(both.gateway().context().getBeansOfType(SdkTracerProvider.class))
                .isEmpty();
    }

    @Test
    void a_collector_that_cannot_be_reached_harms_no_request() {
        start("--fairgate.tracing.endpoint=http://127.0.0.1:" + FrontProxy.freePort() + "/v1/traces");
        for (String path : List.of("/plain/1", "/fair/2")) {
            assertThat(both.ask(path, "X-Tenant-Id", "a").status()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://localhost:4318", "http://localhost:4318/", "localhost:4318/v1/traces", "ftp://a/b"})
    void an_endpoint_is_a_url_with_a_path(String endpoint) {
        assertThatThrownBy(() -> new TraceSettings(URI.create(endpoint), 1, "fairgate"))
                .hasMessage("fairgate.tracing.endpoint: " + endpoint
                        + " (expected: a URL such as http://localhost:4318/v1/traces)");
    }

    @Test
    void a_part_is_between_0_and_1() {
        assertThatThrownBy(() -> new TraceSettings(null, 1.5, "fairgate"))
                .hasMessage("fairgate.tracing.sampled: 1.5 (expected: 0 to 1)");
    }
}

package io.fairgate.gateway;

import static io.fairgate.gateway.TraceCollector.attribute;
import static io.fairgate.gateway.TraceCollector.hex;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Spans of requests as a collector gets them, and what the upstream and the client learn of a trace. */
class TraceTest {

    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String PARENT = "00f067aa0ba902b7";

    @RegisterExtension
    static final GatewayAndUpstream both = new GatewayAndUpstream();

    private static TraceCollector collector;

    private final CountDownLatch release = new CountDownLatch(1);

    @BeforeAll
    static void start() throws IOException {
        collector = new TraceCollector();
        both.start(
                policy("UPSTREAM"),
                "--fairgate.tracing.endpoint=" + collector.endpoint(),
                "--fairgate.access-log=true",
                "--logging.level.io.fairgate.access=info");
    }

    @AfterAll
    static void stop() {
        collector.close();
    }

    static String policy(String upstream) {
        return TestPolicy.onePool("http://" + upstream, "permits: 1, max-waiting: 1, max-wait: 20s");
    }

    @BeforeEach
    void begin() {
        both.upstream().on("/fair/held", exchange -> {
            exchange.await(release);
            ScriptedUpstream.OK.answer(exchange);
        });
        flush(both.gateway());
        collector.clear();
    }

    @AfterEach
    void end() {
        release.countDown();
    }

    /** All spans that have ended are at the collector. */
    static void flush(RunningGateway gateway) {
        gateway.context().getBean(SdkTracerProvider.class).forceFlush().join(10, TimeUnit.SECONDS);
    }

    private static Span awaitSpan(RunningGateway gateway, TraceCollector collector, String name) {
        RunningGateway.eventually(() -> {
            flush(gateway);
            collector.span(name);
        });
        return collector.span(name);
    }

    private Span awaitSpan(String name) {
        return awaitSpan(both.gateway(), collector, name);
    }

    @Test
    void a_request_is_a_span_in_the_trace_of_its_client_with_the_upstream_as_a_child() {
        assertContinues(both, both.gateway(), collector, "fairgate");
    }

    /** A request whose trace a client has begun, at any gateway before this upstream. */
    static void assertContinues(
            GatewayAndUpstream both, RunningGateway gateway, TraceCollector collector, String service) {
        Answer answer = Answer.to(
                gateway.url("/fair/x"),
                "X-Tenant-Id",
                "a",
                "traceparent",
                "00-%s-%s-01".formatted(TRACE, PARENT),
                "tracestate",
                "vendor=1",
                "X-Request-Id",
                "mine-7");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.field("X-Request-Id")).isEqualTo("mine-7");
        Span request = awaitSpan(gateway, collector, "GET fair");
        assertThat(request.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
        assertThat(hex(request.getTraceId())).isEqualTo(TRACE);
        assertThat(hex(request.getParentSpanId())).isEqualTo(PARENT);
        assertThat(attribute(request, "http.response.status_code")).isEqualTo("200");
        assertThat(attribute(request, "url.path")).isEqualTo("/fair/x");
        assertThat(attribute(request, "client.address")).isEqualTo("127.0.0.1");
        assertThat(attribute(request, "fairgate.tenant")).isEqualTo("a");
        assertThat(attribute(request, "fairgate.pool")).isEqualTo("pool");
        assertThat(attribute(request, "http.request.header.x-request-id")).isEqualTo("mine-7");
        Span upstream = collector.span("upstream");
        assertThat(upstream.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CLIENT);
        assertThat(upstream.getParentSpanId()).isEqualTo(request.getSpanId());
        assertThat(both.got("traceparent"))
                .containsExactly("traceparent: 00-%s-%s-01".formatted(TRACE, hex(upstream.getSpanId())));
        assertThat(both.got("tracestate")).containsExactly("tracestate: vendor=1");
        assertThat(both.got("X-Request-Id")).containsExactly("X-Request-Id: mine-7");
        assertThat(collector.services()).containsOnly(service);
        assertThat(collector.spans()).hasSize(2);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void a_request_without_a_trace_begins_one_and_its_id_is_in_the_access_log(CapturedOutput output) {
        Answer answer = both.ask("/plain/x", "X-Tenant-Id", "a");
        Span request = awaitSpan("GET plain");
        String trace = hex(request.getTraceId());
        assertThat(request.getParentSpanId().isEmpty()).isTrue();
        assertThat(answer.field("X-Request-Id")).isEqualTo(trace);
        assertThat(both.got("traceparent").get(0)).matches("traceparent: 00-" + trace + "-[0-9a-f]{16}-0[13]");
        assertThat(both.got("X-Request-Id")).containsExactly("X-Request-Id: " + trace);
        RunningGateway.eventually(() ->
                assertThat(output.getOut()).contains("\"trace\":\"%s\",\"requestId\":\"%s\"".formatted(trace, trace)));
    }

    @Test
    void the_wait_for_a_permit_is_a_child() {
        CompletableFuture<Answer> first = Answer.future(both.gateway().url("/fair/held"), "X-Tenant-Id", "a");
        both.gateway().awaitInFlight("pool", 1);
        CompletableFuture<Answer> second = Answer.future(both.gateway().url("/fair/x"), "X-Tenant-Id", "b");
        both.gateway().awaitWaiting("pool", 1);
        release.countDown();
        assertThat(first.join().status()).isEqualTo(200);
        assertThat(second.join().status()).isEqualTo(200);
        Span wait = awaitSpan("wait for permit");
        RunningGateway.eventually(() -> {
            flush(both.gateway());
            assertThat(collector.spans()).hasSize(5);
        });
        Span request = collector.spans().stream()
                .filter(span -> attribute(span, "fairgate.tenant").equals("b")
                        && span.getName().equals("GET fair"))
                .findFirst()
                .orElseThrow();
        assertThat(wait.getParentSpanId()).isEqualTo(request.getSpanId());
        assertThat(attribute(wait, "fairgate.pool")).isEqualTo("pool");
        assertThat(attribute(wait, "fairgate.tenant")).isEqualTo("b");
        assertThat(wait.getStartTimeUnixNano()).isBetween(request.getStartTimeUnixNano(), request.getEndTimeUnixNano());
        assertThat(wait.getEndTimeUnixNano()).isBetween(wait.getStartTimeUnixNano() + 1, request.getEndTimeUnixNano());
        Span call = collector.spans().stream()
                .filter(span -> span.getName().equals("upstream")
                        && span.getParentSpanId().equals(request.getSpanId()))
                .findFirst()
                .orElseThrow();
        assertThat(call.getStartTimeUnixNano()).isGreaterThanOrEqualTo(wait.getEndTimeUnixNano() - 1_000_000);
    }

    /** OpenMetrics, the format in which values have examples; Prometheus asks for it. */
    private static List<String> samples(String meter) {
        return Answer.to(
                        both.gateway().managementUrl("/actuator/prometheus"),
                        "Accept",
                        "application/openmetrics-text;version=1.0.0")
                .body()
                .lines()
                .filter(line -> line.startsWith(meter))
                .toList();
    }

    /** The registry takes one example in a tenth of a second, so the requests are repeated. */
    @Test
    void waits_and_holds_name_a_trace_that_the_collector_gets() {
        RunningGateway.eventually(() -> {
            askInTrace("d", "not sampled", "00");
            askInTrace("e", "sampled", "01");
            assertThat(samples("fairgate_wait_seconds_bucket"))
                    .anyMatch(line -> isExample(line, "e"))
                    .noneMatch(line -> isExample(line, "d"));
            assertThat(samples("fairgate_hold_seconds_bucket"))
                    .anyMatch(line -> isExample(line, "e"))
                    .noneMatch(line -> isExample(line, "d"));
        });
    }

    private static void askInTrace(String digit, String what, String flags) {
        String trace = "00-%s-%s-%s".formatted(digit.repeat(32), PARENT, flags);
        assertThat(both.ask("/fair/x", "X-Tenant-Id", "c", "traceparent", trace).status())
                .as(what)
                .isEqualTo(200);
    }

    private static boolean isExample(String line, String digit) {
        return line.contains("tenant=\"c\"") && line.contains("trace_id=\"" + digit.repeat(32) + "\"");
    }

    @Test
    void a_refusal_has_its_decision_and_no_upstream() {
        Answer refused = both.ask("/fair/x", "X-Tenant-Id", "nobody");
        Span request = awaitSpan("GET fair");
        assertThat(attribute(request, "fairgate.decision")).isEqualTo(refused.json("decision"));
        assertThat(attribute(request, "fairgate.reason")).isEqualTo("unknown-tenant");
        assertThat(attribute(request, "http.response.status_code")).isEqualTo("403");
        assertThat(request.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
        assertThat(refused.field("X-Request-Id")).isEqualTo(hex(request.getTraceId()));
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/decisions/" + refused.json("decision")))
                        .json("trace"))
                .isEqualTo(hex(request.getTraceId()));
        assertThat(collector.spans()).hasSize(1);
    }

    @Test
    void an_upstream_that_fails_is_an_error() {
        both.upstream().on("/plain/lost", exchange -> exchange.reset());
        assertThat(both.ask("/plain/lost", "X-Tenant-Id", "a").status()).isEqualTo(502);
        Span request = awaitSpan("GET plain");
        assertThat(request.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
        Span call = collector.span("upstream");
        assertThat(call.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
        assertThat(call.getEventsList()).extracting(Span.Event::getName).contains("exception");
    }

    @Test
    void a_client_that_leaves_ends_its_spans() throws Exception {
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.get("/fair/held", "a");
            both.gateway().awaitInFlight("pool", 1);
        }
        Span request = awaitSpan("GET fair");
        assertThat(request.getEventsList()).extracting(Span.Event::getName).contains("client left");
        awaitSpan("upstream");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "two words",
                "ümlaut",
                "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
            })
    void an_id_that_is_not_short_and_visible_is_replaced(String id) throws Exception {
        try (RawClient client = new RawClient(both.gateway().port())) {
            String answer = client.send("GET /plain/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nX-Request-Id: " + id
                            + "\r\nConnection: close\r\n\r\n")
                    .readAll();
            assertThat(answer).startsWith("HTTP/1.1 200");
            assertThat(answer).containsPattern("(?i)x-request-id: [0-9a-f]{32}\r\n");
        }
        assertThat(both.got("X-Request-Id").get(0)).matches("X-Request-Id: [0-9a-f]{32}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                "traceparent: garbage",
                "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            })
    void a_context_that_is_not_valid_begins_a_new_trace(String lines) throws Exception {
        assertThat(both.raw("/plain/x", "X-Tenant-Id: a", lines, "tracestate: vendor=1"))
                .startsWith("HTTP/1.1 200");
        Span request = awaitSpan("GET plain");
        assertThat(hex(request.getTraceId())).isNotEqualTo(TRACE);
        assertThat(request.getParentSpanId().isEmpty()).isTrue();
        assertThat(both.got("traceparent")).hasSize(1);
        assertThat(both.got("tracestate"))
                .as("of a trace that was not continued")
                .isEmpty();
    }
}

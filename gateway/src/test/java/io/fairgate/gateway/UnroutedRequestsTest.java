package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Requests that are refused before a route is found are explained and recorded like all others. */
@ExtendWith(OutputCaptureExtension.class)
class UnroutedRequestsTest {

    private static final Pattern DECISION = Pattern.compile("\"decision\":\"([0-9a-f]+)\"");

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private void start(String... options) {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 1"), options);
    }

    private double counted(String reason) {
        return MetricsPage.of(both.gateway())
                .value(
                        "fairgate_refusals_total",
                        "enforced",
                        "true",
                        "pool",
                        "none",
                        "reason",
                        reason,
                        "tenant",
                        "_other");
    }

    private void assertRecorded(CapturedOutput output, String answer, String path, int status, String reason) {
        assertThat(answer).startsWith("HTTP/1.1 " + status + " ").contains("application/problem+json");
        Matcher decision = DECISION.matcher(answer);
        assertThat(decision.find()).isTrue();
        assertThat(Answer.to(both.gateway().managementUrl("/actuator/decisions/" + decision.group(1)))
                        .body())
                .contains("\"reason\":\"" + reason + "\"", "\"status\":" + status);
        assertThat(counted(reason)).isOne();
        RunningGateway.eventually(() -> assertThat(output.getOut())
                .containsPattern("\"path\":\"" + path + "\",\"status\":" + status
                        + ",\"end\":\"refused\"[^\n]*\"decision\":\"" + decision.group(1) + "\""));
        assertThat(both.upstream().requests()).isEmpty();
    }

    @Test
    void a_request_that_no_route_matches_is_404_and_recorded(CapturedOutput output) throws Exception {
        start("--fairgate.access-log=true", "--logging.level.io.fairgate=info");
        assertRecorded(output, both.raw("/nowhere", "X-Tenant-Id: a"), "/nowhere", 404, "no-route");
    }

    @Test
    void what_http_does_not_allow_is_recorded(CapturedOutput output) throws Exception {
        start("--fairgate.access-log=true", "--logging.level.io.fairgate=info");
        assertRecorded(output, both.raw("/fair/x", "Host: other", "X-Tenant-Id: a"), "/fair/x", 400, "host");
    }

    @Test
    void trace_is_forwarded_where_it_is_allowed() throws Exception {
        start("--fairgate.allow-trace=true");
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send("TRACE /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n")
                    .readUntil("ok");
        }
        assertThat(both.upstream().requests()).containsExactly("TRACE /fair/x HTTP/1.1");
    }
}

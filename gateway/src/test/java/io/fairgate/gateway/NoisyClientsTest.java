package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Clients that break HTTP, or leave in the middle of a body, do not fill the log. */
@ExtendWith(OutputCaptureExtension.class)
class NoisyClientsTest {

    private static final int CLIENTS = 20;

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private int begun;

    private void assertOneLineAtMost(CapturedOutput output) {
        assertThat(Answer.to(both.gateway().url("/fair/x"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        both.gateway().awaitNothingLeft();
        String said = output.getOut().substring(begun);
        assertThat(said).doesNotContain("\tat ", "500 Server Error", "onUncaughtException");
        assertThat(said.lines().filter(line -> line.contains("ERROR") || line.contains("WARN")))
                .hasSizeLessThanOrEqualTo(1);
    }

    private void start(CapturedOutput output) {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4, max-wait: 60s"));
        assertThat(Answer.to(both.gateway().url("/fair/x"), "X-Tenant-Id", "a").status())
                .isEqualTo(200);
        begun = output.getOut().length();
    }

    @Test
    void bodies_of_another_length_over_http2(CapturedOutput output) throws IOException {
        start(output);
        for (int i = 0; i < CLIENTS; i++) {
            try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
                Http2Headers head =
                        RawHttp2Client.request("POST", "/fair/x", "a").add("content-length", "3");
                RawHttp2Client.Stream stream = client.open(head, false);
                client.data("hello", true);
                assertThat(stream.status()).isEqualTo("400");
            }
        }
        RunningGateway.eventually(
                () -> assertThat(MetricsPage.of(both.gateway()).value("fairgate_client_faults_total"))
                        .isGreaterThanOrEqualTo(CLIENTS));
        assertOneLineAtMost(output);
    }

    @Test
    void clients_that_leave_in_the_middle_of_a_body(CapturedOutput output) throws IOException {
        start(output);
        for (int i = 0; i < CLIENTS; i++) {
            RawClient client = new RawClient(both.gateway().port());
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nContent-Length: 100000\r\n\r\nhello");
            both.gateway().awaitInFlight("pool", 1);
            if (i % 2 == 0) {
                client.reset();
            } else {
                client.close();
            }
            both.gateway().awaitInFlight("pool", 0);
        }
        assertOneLineAtMost(output);
    }
}

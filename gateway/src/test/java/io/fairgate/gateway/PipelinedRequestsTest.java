package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that arrive on a connection before the earlier ones are answered (RFC 9112, section 9.3.2). */
class PipelinedRequestsTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    /** Reactor Netty 1.3.7 read no more from such a connection (its issue 4361): docs/decisions/0002-versions.md. */
    @Test
    void after_a_refused_pipelined_request_the_connection_is_read_further() throws Exception {
        CountDownLatch answerFirst = new CountDownLatch(1);
        upstream.on("/fair/slow", exchange -> {
            exchange.await(answerFirst);
            ScriptedUpstream.OK.answer(exchange);
        });
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1, max-wait: 20s"));
        try (RawClient client = new RawClient(gateway.port())) {
            client.send(get("/fair/slow", "X-Tenant-Id: a\r\n") + get("/fair/nobody", ""));
            gateway.awaitInFlight("pool", 1);
            answerFirst.countDown();
            assertThat(client.readUntil("\"decision\"")).contains("200 OK").contains("401 Unauthorized");
            client.readUntil("}");

            client.get("/fair/third", "a");

            assertThat(client.readUntil("ok")).contains("200 OK");
        }
    }

    private static String get(String path, String header) {
        return "GET " + path + " HTTP/1.1\r\nHost: test\r\n" + header + "\r\n";
    }
}

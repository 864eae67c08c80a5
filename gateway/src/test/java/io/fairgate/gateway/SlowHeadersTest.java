package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client waits for half of the time after which a connection without a request is closed. */
class SlowHeadersTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    private void start(String headerTime) {
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 1"), "--fairgate.clients.header-time=" + headerTime);
    }

    private static void assertClosed(int port, String beginning) throws IOException {
        try (RawClient client = new RawClient(port)) {
            assertThat(client.send(beginning).readAll()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /fair/x HT", "GET /fair/x HTTP/1.1\r\nHost: te", "PRI * HTTP/2.0\r\n\r\nS", "P"})
    void headers_that_do_not_end_close_the_connection(String beginning) throws IOException {
        start("50ms");
        assertClosed(both.gateway().port(), beginning);
        assertClosed(both.gateway().managementPort(), beginning);
    }

    @Test
    void a_connection_of_http2_has_no_such_end() throws Exception {
        start("50ms");
        try (RawHttp2Client client = new RawHttp2Client(both.gateway().port())) {
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
            Thread.sleep(100); // More than the header time; a busy machine makes it only longer.
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
        }
    }
}

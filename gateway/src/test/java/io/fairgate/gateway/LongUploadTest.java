package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An upload may take longer than the upstream may for its answer. */
@Tag("long")
class LongUploadTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    @Test
    void it_is_served_while_its_parts_come() throws Exception {
        both.start(
                TestPolicy.onePool("http://UPSTREAM", "permits: 2"),
                "--spring.cloud.gateway.server.webflux.httpclient.response-timeout=9s");
        try (RawClient client = new RawClient(both.gateway().port())) {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int i = 0; i < 4; i++) {
                client.send("5\r\nhello\r\n");
                Thread.sleep(3_000);
            }
            client.send("0\r\n\r\n");
            assertThat(Objects.requireNonNull(client.answer()).status()).isEqualTo(200);
        }
    }
}

package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Frames of HTTP/2 that have no known type are ignored (RFC 9113, 5.5): what they contain is not a part of the body. */
class UnknownFramesTest {

    static final int UNKNOWN = 11;

    /** A request of another tenant, which the upstream would read behind a body of five bytes. */
    static final byte[] HIDDEN =
            "GET /fair/hidden HTTP/1.1\r\nHost: x\r\nX-Tenant-Id: b\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    @BeforeEach
    void start() {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 1"));
    }

    private static Http2Headers post() {
        return RawHttp2Client.request("POST", "/fair/post", "a");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void in_a_body_with_a_length(boolean isBeforeTheBody) throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            RawHttp2Client.Stream stream = client.open(post().add("content-length", "5"), false);
            if (isBeforeTheBody) {
                client.trySend(UNKNOWN, 1, HIDDEN);
                client.data("hello", true);
            } else {
                client.data("hel", false);
                client.trySend(UNKNOWN, 1, HIDDEN);
                client.data("lo", true);
            }
            assertThat(stream.status()).isEqualTo("200");
            assertThat(client.get("/fair/next", "a").status()).isEqualTo("200");
        }
        assertThat(upstream.requests()).containsExactly("POST /fair/post HTTP/1.1", "GET /fair/next HTTP/1.1");
        assertThat(upstream.received().get(0).body()).isEqualTo("hello");
    }

    @Test
    void in_a_body_without_a_length_and_behind_the_request() throws IOException {
        try (RawHttp2Client client = new RawHttp2Client(gateway.port())) {
            RawHttp2Client.Stream stream = client.open(post(), false);
            client.data("hel", false);
            client.trySend(UNKNOWN, 1, HIDDEN);
            client.data("lo", true);
            client.trySend(UNKNOWN, 1, HIDDEN);
            client.trySend(UNKNOWN, 0, HIDDEN);
            assertThat(stream.status()).isEqualTo("200");
            assertThat(client.get("/fair/next", "a").status()).isEqualTo("200");
        }
        assertThat(upstream.requests()).containsExactly("POST /fair/post HTTP/1.1", "GET /fair/next HTTP/1.1");
        assertThat(upstream.received().get(0).body()).isEqualTo("hello");
    }
}

package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the gateway adds to the connections of its clients is there over TLS too: if the client chooses HTTP/1.1 or HTTP/2, if it
 * chooses nothing, and if the gateway offers no choice.
 */
class RequestsOverTlsTest {

    @RegisterExtension
    final GatewayAndUpstream both = new GatewayAndUpstream();

    @TempDir
    @SuppressWarnings("NullAway.Init") // by JUnit
    Path folder;

    private enum Choice {
        HTTP_1_1,
        NONE,
        NOT_OFFERED
    }

    private void start(Choice choice, String... options) throws Exception {
        List<String> all = new ArrayList<>(ServerCertificate.options(folder));
        all.add("--server.http2.enabled=" + (choice != Choice.NOT_OFFERED));
        all.addAll(List.of(options));
        both.start(TestPolicy.onePool("http://UPSTREAM", "permits: 4"), all.toArray(String[]::new));
    }

    private SSLSocket socket(String... protocols) throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), both.gateway().port());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        return socket;
    }

    private RawClient client(Choice choice) throws IOException, GeneralSecurityException {
        return new RawClient(choice == Choice.NONE ? socket() : socket("http/1.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP_1_1", "NONE", "NOT_OFFERED"})
    void a_broken_body_is_400_and_never_sent_as_complete(Choice choice) throws Exception {
        start(choice);
        try (RawClient client = client(choice)) {
            client.send("POST /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "5\r\nhello\r\nzz\r\n");
            assertThat(client.readAll()).startsWith("HTTP/1.1 400 Bad Request\r\n");
        }
        assertThat(both.upstream().received()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP_1_1", "NONE", "NOT_OFFERED"})
    void a_websocket_is_passed_through(Choice choice) throws Exception {
        start(choice);
        both.upstream().onHead("/fair/ws", exchange -> {
            exchange.send(WebSocketTunnelTest.ACCEPT + "x".repeat(100_000));
            exchange.send("got " + (char) exchange.in().read());
            exchange.socket().close();
        });
        try (RawClient client = client(choice)) {
            client.send(
                    "GET /fair/ws HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + WebSocketTunnelTest.FIELDS + "\r\n");
            client.readUntil("xxx");
            assertThat(client.send("?").readAll()).endsWith("xxxgot ?");
        }
    }

    /** The end of TLS alone, without the end of the connection under it. */
    @Test
    void a_client_that_ends_tls_ends_its_websocket() throws Exception {
        start(Choice.HTTP_1_1);
        both.upstream().onHead("/fair/ws", exchange -> {
            exchange.send(WebSocketTunnelTest.ACCEPT);
            exchange.awaitClose();
        });
        try (SSLSocket socket = socket("http/1.1")) {
            RawClient client = new RawClient(socket);
            client.send(
                    "GET /fair/ws HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n" + WebSocketTunnelTest.FIELDS + "\r\n");
            client.readUntil("\r\n\r\n");
            socket.shutdownOutput();
            both.gateway().awaitInFlight("pool", 0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP_1_1", "NONE", "NOT_OFFERED"})
    void the_last_of_several_requests_is_answered(Choice choice) throws Exception {
        start(choice);
        CountDownLatch answerFirst = new CountDownLatch(1);
        both.upstream().on("/fair/slow", exchange -> {
            exchange.await(answerFirst);
            ScriptedUpstream.OK.answer(exchange);
        });
        String tenant = " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n";
        try (RawClient client = client(choice)) {
            client.send("GET /fair/slow" + tenant + "\r\nGET /fair/last" + tenant + "Connection: close\r\n\r\n");
            both.gateway().awaitInFlight("pool", 1);
            answerFirst.countDown();
            assertThat(client.readAll().split("HTTP/1.1 200 OK", -1)).hasSize(3);
        }
    }

    @Test
    void slow_headers_close_the_connection() throws Exception {
        start(Choice.HTTP_1_1, "--fairgate.clients.header-time=50ms");
        try (RawClient client = client(Choice.HTTP_1_1)) {
            assertThat(client.send("GET /fair/x HT").readAll()).isEmpty();
        }
    }

    @Test
    void streams_of_http2_are_looked_at_too() throws Exception {
        start(Choice.HTTP_1_1);
        try (RawHttp2Client client = new RawHttp2Client(socket("h2"))) {
            Http2Headers noMethod = RawHttp2Client.request("GET", "/fair/x", "a");
            noMethod.remove(":method");
            assertThat(client.open(noMethod).reset()).isEqualTo(Http2Error.PROTOCOL_ERROR);
            assertThat(client.get("/fair/x", "a").body()).isEqualTo("ok");
            boolean isClosed = false;
            for (int i = 0; i < 100_000 && !isClosed; i++) {
                isClosed = !client.trySend(Http2FrameTypes.PING, 0, new byte[8]);
            }
            assertThat(isClosed).as("closed after a flood").isTrue();
        }
    }

    @Test
    void frames_of_unknown_types_are_not_a_part_of_the_body() throws Exception {
        start(Choice.HTTP_1_1);
        try (RawHttp2Client client = new RawHttp2Client(socket("h2"))) {
            Http2Headers post = RawHttp2Client.request("POST", "/fair/x", "a").add("content-length", "5");
            RawHttp2Client.Stream stream = client.open(post, false);
            client.trySend(UnknownFramesTest.UNKNOWN, 1, UnknownFramesTest.HIDDEN);
            client.data("hello", true);
            assertThat(stream.status()).isEqualTo("200");
            assertThat(client.get("/fair/x", "a").status()).isEqualTo("200");
        }
        assertThat(both.upstream().requests()).containsExactly("POST /fair/x HTTP/1.1", "GET /fair/x HTTP/1.1");
    }
}

package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.requestWithBody;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.util.ReferenceCounted;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/** HTTP/2 and WebSockets of clients, and upstreams over TLS. */
@ExtendWith(OutputCaptureExtension.class)
class OtherProtocolsTest {

    /** What the upstream of WebSockets got of their handshakes. */
    private static final Queue<String> HANDSHAKES = new ConcurrentLinkedQueue<>();

    private static final DisposableServer SOCKETS = sockets(OwnLoop.server(), "/ws/echo");

    /** It would choose HTTP/2, in which there is no upgrade. */
    private static final DisposableServer TLS_SOCKETS = sockets(
            OwnLoop.server()
                    .protocol(HttpProtocol.H2, HttpProtocol.HTTP11)
                    .secure(ssl -> ssl.sslContext((GenericSslContextSpec<?>) Http2SslContextSpec.forServer(keys()))),
            "/wss/echo");

    private static DisposableServer sockets(HttpServer server, String path) {
        return server.route(routes -> routes.ws(
                        path,
                        (in, out) -> {
                            HANDSHAKES.add(Http2Exchange.text(in.headers()).replaceAll("sec-websocket-key: .*", ""));
                            return out.sendObject(in.receiveFrames().doOnNext(ReferenceCounted::retain));
                        },
                        WebsocketServerSpec.builder().protocols("two").build()))
                .bindNow();
    }

    private static final RecordingUpstream TLS = new RecordingUpstream(tls().getServerSocketFactory());

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .setWebflux("httpclient.ssl.use-insecure-trust-manager", true)
            .routeTo("https://127.0.0.1:" + TLS.port(), "tls", List.of("Path=/tls/**"), List.of("FairShare=pool"))
            .routeTo("http://127.0.0.1:" + SOCKETS.port(), "sockets", List.of("Path=/ws/**"), List.of("FairShare=pool"))
            .routeTo("wss://127.0.0.1:" + TLS_SOCKETS.port(), "wss", List.of("Path=/wss/**"), List.of("FairShare=pool"))
            .route("plain", "Path=/**");

    private static SSLContext tls() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys().getKeyManagers(), null, null);
            return context;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static KeyManagerFactory keys() {
        try {
            return new CertificateBuilder()
                    .ecp256()
                    .subject("CN=127.0.0.1")
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned()
                    .toKeyManagerFactory();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @AfterAll
    static void close() {
        TLS.close();
        SOCKETS.disposeNow();
        TLS_SOCKETS.disposeNow();
    }

    /** What the upstream and a client of HTTP/2 get, which must be the same on both ways. */
    private static String overHttp2(
            Script script, String method, String target, String body, Map<String, String> fields) {
        String chain = overHttp2(Way.FILTER_CHAIN, script, method, target, body, fields);
        assertThat(overHttp2(Way.DIRECT, script, method, target, body, fields)).isEqualTo(chain);
        return chain;
    }

    private static String overHttp2(
            Way way, Script script, String method, String target, String body, Map<String, String> fields) {
        gateways.upstream().answerWith(script);
        String client = Http2Exchange.with(gateways.port(way), method, target, body, fields);
        return gateways.upstream().text() + client;
    }

    @ParameterizedTest
    @CsvSource({"GET, ''", "HEAD, ''", "POST, hello", "PUT, ''", "DELETE, ''", "PATCH, hello", "OPTIONS, ''"})
    void a_request_over_http2(String method, String body) {
        String observed = overHttp2(
                RecordingUpstream.answer(
                        "HTTP/1.1 200 OK",
                        "X-Red: 1",
                        "Set-Cookie: a=b",
                        "Set-Cookie: c=d",
                        "Connection: X-Foo",
                        "X-Foo: 1",
                        "Content-Length: " + (method.equals("HEAD") ? 0 : 2),
                        "",
                        method.equals("HEAD") ? "" : "ok"),
                method,
                "/x?a=%20b",
                body,
                Map.of("X-Client", "1", "te", "trailers", "cookie", "e=f; g=h", "X-Account", "other"));
        assertThat(observed)
                .contains(method + " /x?a=%20b HTTP/1.1", "x-red: 1", "set-cookie: a=b", "set-cookie: c=d")
                .contains("X-Account: a")
                .doesNotContain("x-foo: 1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/a%20b?x=%2F&y=a+b", "/x;a=b?c", "/x?a=[1]&a=2"})
    void a_target_over_http2(String target) {
        assertThat(overHttp2(RecordingUpstream.OK, "GET", target, "", Map.of())).contains("server-timing");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: t\r\n\r\n",
                "HTTP/1.1 204 No Content\r\nETag: \"a\"\r\n\r\n",
                "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n",
                "HTTP/1.1 503 Odd\r\nRetry-After: 5\r\nContent-Length: 2\r\n\r\nno",
                "HTTP/1.1 200 OK\r\nConnection: close\r\nKeep-Alive: a\r\nContent-Length: 2\r\n\r\nok"
            })
    void a_response_over_http2(String response) {
        String observed = overHttp2(
                request -> {
                    request.body();
                    request.send(response);
                },
                "GET",
                "/x",
                "",
                Map.of());
        assertThat(observed).contains("\n" + response.substring(9, 12) + "\n").doesNotContain("keep-alive");
    }

    @Test
    void an_interim_response_is_not_taken_for_the_response_over_http2() {
        Script hints = RecordingUpstream.answer(
                "HTTP/1.1 103 Early Hints", "Link: </a>", "", "HTTP/1.1 200 OK", "Content-Length: 2", "", "ok");
        assertThat(overHttp2(hints, "GET", "/x", "", Map.of()))
                .contains("\n200\n", "  ok\n")
                .doesNotContain("link: ");
    }

    @Test
    void an_expectation_over_http2() {
        assertThat(overHttp2(RecordingUpstream.OK, "POST", "/x", "hello", Map.of("expect", "100-continue")))
                .contains("5 bytes) hello", "\n200\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/ws/echo", "/wss/echo"})
    void a_websocket_is_forwarded_with_its_protocol_its_messages_and_its_end(String path, CapturedOutput output)
            throws Exception {
        String chain = overWebSocket(Way.FILTER_CHAIN, path);
        assertThat(overWebSocket(Way.DIRECT, path)).isEqualTo(chain);
        assertThat(output.getAll()).as("an end is no failure").doesNotContain("DURING response");
        assertThat(chain).contains("x-account: a", "protocol two", "echo hello", "closed 4001");
    }

    private static String overWebSocket(Way way, String path) throws Exception {
        HANDSHAKES.clear();
        Queue<String> got = new ConcurrentLinkedQueue<>();
        CompletableFuture<String> closed = new CompletableFuture<>();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .header("X-Tenant-Id", "a")
                .header("X-Client", "1")
                .subprotocols("one", "two")
                .buildAsync(
                        URI.create("ws://127.0.0.1:" + gateways.port(way) + path + "?a=b"), new Listener(got, closed))
                .get(20, TimeUnit.SECONDS);
        got.add("protocol " + socket.getSubprotocol());
        socket.sendText("hello", true).get(20, TimeUnit.SECONDS);
        Patience.until("the echo", () -> got.size() == 2);
        socket.sendClose(4001, "enough").get(20, TimeUnit.SECONDS);
        String handshakes = HANDSHAKES.toString().replace(String.valueOf(gateways.port(way)), "PORT");
        return handshakes + "\n" + got + closed.get(20, TimeUnit.SECONDS);
    }

    private record Listener(Queue<String> got, CompletableFuture<String> closed) implements WebSocket.Listener {
        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
            got.add("echo " + text);
            socket.request(1);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            closed.complete("closed " + status);
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            closed.complete("closed by " + error);
        }
    }

    @Test
    void an_upstream_over_tls() throws Exception {
        String chain = overTls(Way.FILTER_CHAIN);
        assertThat(overTls(Way.DIRECT)).isEqualTo(chain);
        assertThat(chain).contains("POST /tls/x?y HTTP/1.1", "hello", "200 OK");
    }

    private static String overTls(Way way) throws Exception {
        TLS.answerWith(RecordingUpstream.OK);
        try (RecordingClient client = gateways.connect(way)) {
            client.send(requestWithBody("POST", "/tls/x?y", "hello")).response();
            return TLS.text() + client.text();
        }
    }
}

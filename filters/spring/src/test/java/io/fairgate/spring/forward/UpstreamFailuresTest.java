package io.fairgate.spring.forward;

import static io.fairgate.spring.forward.RecordingClient.request;
import static io.fairgate.spring.forward.RecordingClient.requestWithBody;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.fairgate.spring.forward.GatewayPair.Observation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client gets when its upstream fails. */
class UpstreamFailuresTest {

    private static final FullUpstream FULL = new FullUpstream();

    @RegisterExtension
    static final GatewayPair gateways = new GatewayPair(new RecordingUpstream())
            .setWebflux("httpclient.response-timeout", "5s")
            .set("fairgate.upstream-body-idle", "300ms")
            .set("fairgate.policy.pools.pool.on-client-left", "close")
            .route("impatient", "Path=/impatient/**")
            .metadata("response-timeout", 1_000) // on a busy machine, a request takes a while to arrive
            .route("patient", "Path=/patient/**")
            .metadata("response-timeout", -1)
            .route("unreadable", "Path=/unreadable/**")
            .metadata("response-timeout", "soon")
            .routeTo("http://127.0.0.1:1", "refused", List.of("Path=/refused/**"), List.of("FairShare=pool"))
            .routeTo("http://127.0.0.1:" + FULL.port(), "full", List.of("Path=/full/**"), List.of("FairShare=pool"))
            .metadata("connect-timeout", 100)
            .routeTo("http://no-such-host.invalid", "unknown", List.of("Path=/unknown/**"), List.of("FairShare=pool"))
            .route("all", "Path=/**");

    /** Accepts no connection: the queue of its socket is full. */
    private static final class FullUpstream {
        private final ServerSocket server;
        private final List<SocketChannel> waiting = new ArrayList<>();

        FullUpstream() {
            try {
                server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                for (int i = 0; i < 4; i++) {
                    SocketChannel channel = SocketChannel.open();
                    channel.configureBlocking(false);
                    channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port()));
                    waiting.add(channel);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        int port() {
            return server.getLocalPort();
        }

        void close() throws IOException {
            for (SocketChannel channel : waiting) {
                channel.close();
            }
            server.close();
        }
    }

    @AfterAll
    static void close() throws IOException {
        FULL.close();
    }

    @ParameterizedTest
    @CsvSource({"/refused/x, 502", "/full/x, 502", "/unknown/x, 502"})
    void an_upstream_that_cannot_be_reached(String path, String status) throws Exception {
        Observation observed = gateways.observe(RecordingUpstream.OK, client -> {
            client.send(requestWithBody("POST", path, "hello")).response();
            client.probe();
        });
        assertThat(observed.upstream()).isEmpty();
        assertThat(observed.client()).startsWith("HTTP/1.1 " + status);
    }

    @Test
    void an_upstream_that_never_answers() throws Exception {
        Observation observed = gateways.observe(RecordingUpstream.Request::awaitClose, client -> {
            client.send(request("GET", "/impatient/x")).response();
            client.probe();
        });
        assertThat(observed.upstream()).contains("the gateway closed the connection");
        assertThat(observed.client()).startsWith("HTTP/1.1 504");
    }

    @Test
    void an_upstream_that_stops_in_its_head() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-");
                    request.awaitClose();
                },
                client -> {
                    client.send(request("GET", "/impatient/x")).response();
                    client.probe();
                });
        assertThat(observed.client()).startsWith("HTTP/1.1 504");
    }

    /** A negative timeout is none, and one that is no number is that of all routes. */
    @ParameterizedTest
    @CsvSource({"/patient/x, 200", "/unreadable/x, 200", "/impatient/x, 504"})
    void a_timeout_of_the_route_is_used_in_the_place_of_the_general_one(String path, String status) throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    Thread.sleep(path.startsWith("/impatient") ? 2_000 : 400);
                    RecordingUpstream.OK.answer(request);
                },
                client -> client.send(request("GET", path)).response());
        assertThat(observed.client()).startsWith("HTTP/1.1 " + status);
    }

    static Stream<Arguments> noResponses() {
        return Stream.of(
                arguments("", 502),
                arguments("HTTP", 502),
                arguments("HTTP/1.1 200 OK\r\nContent-Length", 502),
                arguments("no HTTP at all\r\n\r\n", 502),
                arguments("\026\003\001\002\000\001\r\n", 502),
                arguments("HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 502),
                arguments("HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok", 502),
                arguments("HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nok", 502),
                arguments("HTTP/1.1 99 OK\r\nContent-Length: 2\r\n\r\nok", 502),
                arguments("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok", 502),
                arguments("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", 502),
                arguments("HTTP/1.1 200 OK\r\nX: " + "x".repeat(20_000) + "\r\n\r\n", 502),
                arguments("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200),
                arguments("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 502));
    }

    @ParameterizedTest
    @MethodSource("noResponses")
    void an_upstream_that_sends_no_response(String bytes, int status) throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.body();
                    request.send(bytes);
                    request.close();
                },
                client -> {
                    client.send(requestWithBody("POST", "/x", "hello")).response();
                    gateways.upstream().awaitDone();
                    client.probe();
                });
        assertThat(observed.upstream()).contains("5 bytes) hello");
        assertThat(observed.client()).startsWith("HTTP/1.1 " + status).contains("kept");
    }

    @Test
    void an_upstream_that_resets_the_connection() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.body();
                    request.reset();
                },
                client -> {
                    client.send(requestWithBody("POST", "/x", "hello")).response();
                    client.probe();
                });
        assertThat(observed.client()).startsWith("HTTP/1.1 502");
    }

    /** The upstream fails only when the client has got the beginning of the body. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            reset | Content-Length: 10
            close | Content-Length: 10
            stall | Content-Length: 10
            reset | Transfer-Encoding: chunked
            close | Transfer-Encoding: chunked
            stall | Transfer-Encoding: chunked
            reset | X-Until: closed
            """)
    void an_upstream_that_fails_in_its_body(String how, String framing) throws Exception {
        String begin = framing.endsWith("chunked") ? "5\r\nhello\r\n" : "hello";
        Semaphore seen = new Semaphore(0);
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\n" + framing + "\r\n\r\n" + begin);
                    Patience.acquire(seen);
                    switch (how) {
                        case "reset" -> request.reset();
                        case "close" -> request.close();
                        default -> request.awaitClose();
                    }
                },
                client -> {
                    client.send(request("GET", "/x")).head();
                    client.note(Wire.latin1(client.wire().in().readNBytes(framing.startsWith("Content") ? 5 : 10)));
                    seen.release();
                    client.note(client.wire().in().readAllBytes().length + " more bytes");
                });
        assertThat(observed.client()).contains("hello", "\n0 more bytes");
    }

    /** The client has got the beginning of the body, and so its connection ends. */
    @Test
    void a_chunk_without_a_size() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nno size\r\n");
                    request.awaitClose();
                },
                client -> {
                    client.send(request("GET", "/x")).head();
                    client.note(Wire.latin1(client.wire().in().readAllBytes()));
                });
        assertThat(observed.client()).startsWith("HTTP/1.1 200").doesNotContain("0\r\n\r\n");
    }

    /** Of the response, and of what the upstream sends behind it. */
    static Stream<Arguments> moreThanResponses() {
        String length = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        String chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
        String other = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
        return Stream.of(length, chunked)
                .flatMap(response ->
                        Stream.of("\n", "x", "more", other, other + other).map(more -> arguments(response, more)));
    }

    private static final int SPLIT = 7;

    /** The next request, perhaps of another tenant, gets its own response on another connection. */
    @ParameterizedTest
    @MethodSource("moreThanResponses")
    void an_upstream_that_sends_more_than_its_response(String response, String more) throws Exception {
        for (String first : List.of(response + more, response, response.substring(0, SPLIT))) {
            Observation observed = gateways.observe(
                    request -> {
                        request.send(first);
                        if (first.length() <= response.length()) {
                            Thread.sleep(20); // so that the rest comes by itself
                        }
                        request.send((response + more).substring(first.length()));
                        request.awaitClose();
                    },
                    client -> {
                        client.send(request("GET", "/x")).response();
                        gateways.upstream().awaitDone();
                        client.probe();
                    });
            assertThat(observed.client()).startsWith("HTTP/1.1 200").contains("2 bytes) ok", "kept: HTTP/1.1 200");
            assertThat(observed.upstream()).contains("the gateway closed the connection");
        }
    }

    @Test
    void an_upstream_that_sends_a_body_to_head() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    request.awaitClose();
                },
                client -> {
                    client.send(request("HEAD", "/x")).head();
                    gateways.upstream().awaitDone();
                    client.probe();
                });
        assertThat(observed.client()).contains("kept: HTTP/1.1 200");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n|ok",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no|k",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok|",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n|",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n|2\r\nok\r\n0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n|0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n|",
                "HTTP/1.1 103 Early Hints\r\n\r\n|HTTP/1.1 204 No Content\r\n\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n|"
            })
    void a_connection_without_further_bytes_is_reused(String response) throws Exception {
        int pause = response.indexOf('|');
        gateways.observe(
                request -> {
                    request.send(response.substring(0, pause));
                    Thread.sleep(20);
                    request.send(response.substring(pause + 1));
                },
                client -> {
                    for (int i = 0; i < 5; i++) {
                        client.send(request("GET", "/x")).response();
                    }
                });
        assertThat(gateways.upstream().connections()).isOne();
    }

    @Test
    void an_upstream_that_answers_before_it_has_read_the_body() throws Exception {
        Observation observed = gateways.observe(
                request -> {
                    request.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
                    request.awaitClose();
                },
                client -> client.send(request("POST", "/x", "Content-Length: 1000") + "hello")
                        .response());
        assertThat(observed.client()).startsWith("HTTP/1.1 413");
        assertThat(observed.upstream()).contains("the gateway closed the connection");
    }
}

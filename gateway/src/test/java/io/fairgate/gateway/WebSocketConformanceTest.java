package io.fairgate.gateway;

import static io.fairgate.gateway.WebSocketFrames.BINARY;
import static io.fairgate.gateway.WebSocketFrames.CLOSE;
import static io.fairgate.gateway.WebSocketFrames.CONTINUATION;
import static io.fairgate.gateway.WebSocketFrames.FIN;
import static io.fairgate.gateway.WebSocketFrames.PING;
import static io.fairgate.gateway.WebSocketFrames.PONG;
import static io.fairgate.gateway.WebSocketFrames.RSV1;
import static io.fairgate.gateway.WebSocketFrames.RSV2;
import static io.fairgate.gateway.WebSocketFrames.RSV3;
import static io.fairgate.gateway.WebSocketFrames.TEXT;
import static io.fairgate.gateway.WebSocketFrames.close;
import static io.fairgate.gateway.WebSocketFrames.frame;
import static io.fairgate.gateway.WebSocketFrames.join;
import static io.fairgate.gateway.WebSocketFrames.text;
import static io.fairgate.gateway.WebSocketFrames.unmasked;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ReferenceCounted;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.WebsocketServerSpec;
import reactor.netty.http.websocket.WebsocketInbound;
import reactor.netty.http.websocket.WebsocketOutbound;

/** Whatever a client sends in a WebSocket, it gets from the upstream through the gateway what it gets without it. */
class WebSocketConformanceTest {

    /** Larger ones pass in {@link WebSocketTunnelTest}: Netty's detector of leaks notes each access to the upstream's buffers. */
    private static final int MOST = 1024 * 1024;

    private static final byte[] NOTHING = {};
    private static final byte[] END = close(1000, "");
    private static final String DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    /** It answers each frame with the same; Netty checks what a server must check. */
    private static final DisposableServer UPSTREAM = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .route(routes -> routes.ws("/fair/echo", WebSocketConformanceTest::echo, spec().build())
                    .ws(
                            "/fair/protocols",
                            WebSocketConformanceTest::echo,
                            spec().protocols("one,two").build())
                    .get(
                            "/fair/refused",
                            (request, response) -> response.status(403)
                                    .header("WWW-Authenticate", "Bearer")
                                    .sendString(Mono.just("no"))))
            .bindNow();

    private static Publisher<Void> echo(WebsocketInbound in, WebsocketOutbound out) {
        return out.sendObject(in.receiveFrames().doOnNext(ReferenceCounted::retain));
    }

    private static WebsocketServerSpec.Builder spec() {
        return WebsocketServerSpec.builder().compress(true).maxFramePayloadLength(MOST);
    }

    @BeforeAll
    static void start() {
        gateway.start(TestPolicy.onePool("http://127.0.0.1:" + UPSTREAM.port(), "permits: 2"));
    }

    @AfterAll
    static void stop() {
        UPSTREAM.disposeNow(Duration.ofSeconds(30));
    }

    /**
     * @param fields header fields of the handshake, besides those that all have
     * @param awaited how many bytes of messages must have come back before {@code last} is sent: Reactor Netty answers a close
     *     before messages that it has still to send
     */
    @SuppressWarnings("ArrayRecordComponent") // Cases are not compared.
    private record Case(String name, String target, String fields, byte[] frames, int awaited, byte[] last) {

        static Case of(String name, byte[]... frames) {
            return new Case(name, "/fair/echo", "", join(frames), 0, NOTHING);
        }

        Case andWhenBack(int bytes, byte[] then) {
            return new Case(name, target, fields, frames, bytes, then);
        }

        Case with(String more) {
            return new Case(name, target, fields + more, frames, awaited, last);
        }

        Case to(String other) {
            return new Case(name, other, fields, frames, awaited, last);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] fragments(int first, byte[] payload, int each) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < payload.length; i += each) {
            boolean isLast = i + each >= payload.length;
            byte[] part = Arrays.copyOfRange(payload, i, Math.min(payload.length, i + each));
            all.writeBytes(frame((i == 0 ? first : CONTINUATION) | (isLast ? FIN : 0), part));
        }
        return all.toByteArray();
    }

    /** As permessage-deflate has it (RFC 7692, 7.2.1): without the last four bytes. */
    private static byte[] deflated(String text) {
        Deflater deflater = new Deflater(6, true);
        deflater.setInput(utf8(text));
        byte[] buffer = new byte[1000];
        int length = deflater.deflate(buffer, 0, buffer.length, Deflater.SYNC_FLUSH);
        deflater.end();
        return Arrays.copyOf(buffer, length - 4);
    }

    static Stream<Case> messages() {
        Stream<Case> sizes = IntStream.of(0, 1, 125, 126, 127, 128, 65_535, 65_536, 65_537, MOST)
                .mapToObj(length -> Case.of("a binary message of " + length, frame(FIN | BINARY, bytes(length)))
                        .andWhenBack(length, END));
        Stream<Case> others = Stream.of(
                Case.of("nothing"),
                Case.of("a close only", END),
                Case.of("an empty text", text(""), END),
                Case.of("a text", text("hello"), END),
                Case.of("a text of 100,000", text("x".repeat(100_000))).andWhenBack(100_000, END),
                Case.of("many small messages", texts(10_000)).andWhenBack(10_000 * 7, END),
                Case.of(
                        "a text of two, three and four bytes a character",
                        text("κόσμε \u4f60\u597d \ud83d\ude00"),
                        END),
                Case.of("two fragments", fragments(TEXT, utf8("fragment"), 4), END),
                Case.of("a fragment for each byte", fragments(TEXT, utf8("κόσμε"), 1), END),
                Case.of("a megabyte in fragments", fragments(BINARY, bytes(MOST), 65_536))
                        .andWhenBack(MOST, END),
                Case.of("fragments that are empty", frame(TEXT, NOTHING), frame(0, NOTHING), frame(FIN, NOTHING), END),
                Case.of("a ping", frame(FIN | PING, NOTHING), END),
                Case.of("a ping with 125 bytes", frame(FIN | PING, bytes(125)), END),
                Case.of("ten pings", pings(10), END),
                Case.of("a pong that no ping asked for", frame(FIN | PONG, utf8("?")), text("x"), END),
                Case.of(
                        "a ping between fragments",
                        frame(TEXT, utf8("a")),
                        frame(FIN | PING, utf8("p")),
                        frame(FIN, utf8("b")),
                        END),
                Case.of(
                        "pings and pongs between fragments",
                        frame(BINARY, bytes(10)),
                        frame(FIN | PONG, utf8("p")),
                        frame(0, bytes(11)),
                        frame(FIN | PING, utf8("q")),
                        frame(FIN, bytes(12)),
                        END));
        return Stream.concat(sizes, others);
    }

    private static byte[] texts(int count) {
        return join(IntStream.range(0, count)
                .mapToObj(i -> text("%7d".formatted(i)))
                .toArray(byte[][]::new));
    }

    private static byte[] pings(int count) {
        return join(IntStream.range(0, count)
                .mapToObj(i -> frame(FIN | PING, utf8("" + i)))
                .toArray(byte[][]::new));
    }

    static Stream<Case> endings() {
        Stream<Case> codes = IntStream.of(
                        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999, // may be sent
                        0, 999, 1004, 1005, 1006, 1012, 1013, 1014, 1015, 1016, 1100, 2000, 2999, 5000, 65_535)
                .mapToObj(code -> Case.of("a close with " + code, close(code, "")));
        Stream<Case> others = Stream.of(
                Case.of("a close without a code", frame(FIN | CLOSE, NOTHING)),
                Case.of("a close with half a code", frame(FIN | CLOSE, new byte[] {3})),
                Case.of("a close with a reason", close(1000, "enough")),
                Case.of("a close with the longest reason", close(1000, "x".repeat(123))),
                Case.of("a close with a reason that is too long", close(1000, "x".repeat(124))),
                Case.of("a close with a reason that is no UTF-8", frame(FIN | CLOSE, latin1("\u0003\u00e8\u00ff"))),
                Case.of("a close in two frames", frame(CLOSE, NOTHING), frame(FIN, NOTHING)),
                Case.of("a message behind the close", END, text("late")),
                Case.of("a ping behind the close", END, frame(FIN | PING, NOTHING)),
                Case.of("half a frame", Arrays.copyOf(text("hello"), 8)),
                Case.of("half a message", frame(TEXT, utf8("hello"))).andWhenBack(5, NOTHING));
        return Stream.concat(codes, others);
    }

    static Stream<Case> violations() {
        Stream<Case> opcodes = IntStream.of(3, 4, 5, 6, 7, 11, 12, 13, 14, 15)
                .mapToObj(opcode -> Case.of("the opcode " + opcode, frame(FIN | opcode, utf8("x")), END));
        Stream<Case> reserved = IntStream.of(RSV1, RSV2, RSV3, RSV1 | RSV2 | RSV3)
                .mapToObj(bits -> Case.of("the reserved bits " + bits, frame(FIN | TEXT | bits, utf8("x")), END));
        Stream<Case> others = Stream.of(
                Case.of("a frame without a mask", unmasked(FIN | TEXT, utf8("hello")), END),
                Case.of("a continuation of nothing", frame(FIN, utf8("x")), END),
                Case.of("a message within a message", frame(TEXT, utf8("a")), text("b"), END),
                Case.of("a ping in two frames", frame(PING, utf8("a")), frame(FIN, utf8("b")), END),
                Case.of("a ping with 126 bytes", frame(FIN | PING, bytes(126)), END),
                Case.of("a frame beyond the upstream's limit", Arrays.copyOf(frame(FIN | BINARY, bytes(MOST + 1)), 30)),
                Case.of("a length with the highest bit", latin1("\u0082\u00ff\u0080\0\0\0\0\0\0\1\0\0\0\0x")),
                Case.of("a short length in eight bytes", latin1("\u0081\u00ff\0\0\0\0\0\0\0\1\0\0\0\0x"), END),
                Case.of("a text that is no UTF-8", frame(FIN | TEXT, latin1("\u00ff\u00fe")), END),
                Case.of("an overlong character", frame(FIN | TEXT, latin1("\u00c0\u00af")), END),
                Case.of("half a surrogate", frame(FIN | TEXT, latin1("\u00ed\u00a0\u0080")), END),
                Case.of("a character beyond the last", frame(FIN | TEXT, latin1("\u00f4\u0090\u0080\u0080")), END),
                Case.of("a text that ends within a character", frame(FIN | TEXT, latin1("\u00ce")), END),
                Case.of("no WebSocket at all", utf8("GET /fair/x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: b\r\n\r\n")));
        return Stream.of(opcodes, reserved, others).flatMap(each -> each);
    }

    static Stream<Case> extensionsAndProtocols() {
        Case compressed = Case.of("a compressed text", frame(FIN | RSV1 | TEXT, deflated("hello hello")), END);
        return Stream.of(
                        compressed,
                        Case.of("a text that is not compressed", text("hello"), END),
                        Case.of(
                                "a compressed text in fragments",
                                frame(RSV1 | TEXT, Arrays.copyOf(deflated("hello hello"), 4)),
                                frame(
                                        FIN,
                                        Arrays.copyOfRange(deflated("hello hello"), 4, deflated("hello hello").length)),
                                END),
                        Case.of("what cannot be decompressed", frame(FIN | RSV1 | TEXT, utf8("\u0007?!")), END),
                        Case.of("a compressed ping", frame(FIN | RSV1 | PING, deflated("x")), END))
                .flatMap(each -> Stream.of(
                        each.with(DEFLATE),
                        each.with("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, x\r\n"),
                        each.with("Sec-WebSocket-Extensions: unknown; a=b\r\n")))
                .flatMap(each ->
                        Stream.of(each, each.to("/fair/protocols").with("Sec-WebSocket-Protocol: zero, two, one\r\n")));
    }

    static Stream<Case> handshakes() {
        Case text = Case.of("a text", text("hello"), END);
        return Stream.of(
                text.to("/fair/protocols").with("Sec-WebSocket-Protocol: zero\r\n"),
                text.to("/fair/protocols").with("Sec-WebSocket-Protocol: two\r\nSec-WebSocket-Protocol: one\r\n"),
                text.with("Origin: https://example.org\r\nCookie: a=b\r\n"),
                text.with("Sec-WebSocket-Version: 8\r\n"),
                text.to("/fair/refused"),
                text.to("/fair/unknown"));
    }

    @ParameterizedTest
    @MethodSource({"messages", "endings", "violations", "extensionsAndProtocols", "handshakes"})
    void through_the_gateway_it_is_the_same(Case each) throws IOException {
        String direct = play(UPSTREAM.port(), each, MOST + 100);
        assertThat(direct).startsWith("HTTP/1.1 ");
        assertThat(play(gateway.port(), each, MOST + 100)).isEqualTo(direct);
        if (each.frames().length < 1_000) {
            assertThat(play(gateway.port(), each, 1)).as("byte by byte").isEqualTo(direct);
        }
        gateway.awaitInFlight("pool", 0);
    }

    /** What the client gets. It sends its frames in parts of a certain length, and then ends its output. */
    private static String play(int port, Case each, int length) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
            OutputStream out = socket.getOutputStream();
            String version = each.fields().contains("Version") ? "" : "Sec-WebSocket-Version: 13\r\n";
            out.write(utf8("GET " + each.target() + " HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n"
                    + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                    + version + each.fields() + "\r\n"));
            InputStream in = socket.getInputStream();
            String head = head(in);
            if (!head.contains(" 101 ")) {
                socket.shutdownOutput();
                return head + new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
            WebSocketFrames.Received received = new WebSocketFrames.Received();
            Thread sender = new Thread(() -> send(each, length, socket, received));
            sender.setDaemon(true);
            sender.start();
            received.read(in);
            return head + received;
        }
    }

    private static void send(Case each, int length, Socket socket, WebSocketFrames.Received received) {
        try {
            OutputStream out = socket.getOutputStream();
            for (int i = 0; i < each.frames().length; i += length) {
                out.write(each.frames(), i, Math.min(length, each.frames().length - i));
            }
            received.await(each.awaited());
            out.write(each.last());
            socket.shutdownOutput();
        } catch (IOException | InterruptedException e) {
            // The server has closed the connection.
        }
    }

    /** The status line and the fields that concern the handshake or its refusal. */
    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                break;
            }
            head.write(next);
        }
        List<String> lines = new ArrayList<>(
                head.toString(StandardCharsets.ISO_8859_1).lines().toList());
        String status = lines.remove(0);
        return status + "\n"
                + lines.stream()
                        .map(line -> line.toLowerCase(Locale.ROOT))
                        .filter(line -> line.matches("(sec-websocket-|upgrade|connection|www-|content-length).*"))
                        .sorted()
                        .reduce("", (all, line) -> all + line + "\n");
    }
}

package io.fairgate.gateway.throttle;

import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls a server of its own, on another port of this machine, in the ways that clients use most, before the port is opened. The first call of a process takes a second on a
 * busy machine, because of all that is loaded and compiled then. Clients of throttle wait for 0.2 s.
 */
public final class Rehearsal {

    private static final ThrottleFile SEMAPHORE =
            new ThrottleFile(List.of(new ThrottleFile.Declared("rehearsal", 1, 0)), null);

    private static final Logger log = LoggerFactory.getLogger(Rehearsal.class);
    private static final int ROUNDS = 2;
    private static final int MOST_MILLIS = 5_000;
    private static final String END_OF_HEAD = "\r\n\r\n";

    private static volatile int latestPort;

    private Rehearsal() {}

    /** The port of the latest rehearsal. */
    static int latestPort() {
        return latestPort;
    }

    /** Blocks until the calls are answered. A call that fails is logged: the real ones may be served. */
    public static void run() {
        try {
            callServer();
        } catch (IOException | RuntimeException e) {
            log.warn("The first calls may take long, because those before the start failed: {}", e.toString());
        }
    }

    private static void callServer() throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        ThrottleServer server =
                ThrottleServer.start(SEMAPHORE, ThrottleSettings.STANDARD, anyPort, MonotonicScheduler.INSTANCE);
        latestPort = server.port();
        try {
            for (int round = 0; round < ROUNDS; round++) {
                callAll(server.port());
            }
        } finally {
            server.end();
        }
    }

    private static void callAll(int port) throws IOException {
        expect("200", call(port, "GET /health", ""));
        String created = call(port, "POST /new_peer", "{\"expires_in\":\"1m\"}");
        expect("200", created);
        String peer = "/peers/" + created.substring(created.indexOf(END_OF_HEAD) + END_OF_HEAD.length());
        expect("200", call(port, "PUT " + peer + "/rehearsal?block_for=1ms", "1"));
        expect("200", call(port, "GET /remainder?semaphore=rehearsal", ""));
        expect("200", call(port, "PUT " + peer, "{\"expires_in\":\"1m\"}"));
        expect("200", call(port, "DELETE " + peer, ""));
    }

    private static void expect(String status, String answer) throws IOException {
        if (!answer.startsWith("HTTP/1.1 " + status)) {
            throw new IOException("status %s was expected: %s".formatted(status, answer));
        }
    }

    private static String call(int port, String target, String body) throws IOException {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), MOST_MILLIS);
            socket.setSoTimeout(MOST_MILLIS);
            String head =
                    target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                            + "Content-Length: " + body.length() + END_OF_HEAD;
            socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }
}

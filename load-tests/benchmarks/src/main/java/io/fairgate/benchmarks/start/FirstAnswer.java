package io.fairgate.benchmarks.start;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Asks a program that is starting until it answers with 200. */
final class FirstAnswer {

    private static final String OK = "HTTP/1.1 200";
    private static final int PAUSE_MILLIS = 5;
    private static final int TIMEOUT_MILLIS = 10_000;

    private FirstAnswer() {}

    /** A port that is free now. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** @throws IllegalStateException when there is no 200 in time */
    static void await(int port, String path, Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (!answers(port, path)) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("no 200 on port %d within %s".formatted(port, atMost));
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }

    private static boolean answers(int port, String path) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            socket.getOutputStream()
                    .write(("GET " + path
                                    + " HTTP/1.1\r\nHost: localhost\r\nX-Tenant-Id: t1\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream answer = socket.getInputStream();
            return new String(answer.readNBytes(OK.length()), StandardCharsets.US_ASCII).equals(OK);
        } catch (IOException notYet) {
            return false;
        }
    }
}

package io.fairgate.benchmarks.http;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Answers every request without a body at once with the same two bytes, at a free loopback port, which it prints. */
public final class Upstream {

    private static final byte[] ANSWER =
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".getBytes(StandardCharsets.US_ASCII);
    private static final String END = "\r\n\r\n";

    private Upstream() {}

    /** Runs until it is killed, or its parent process has ended. */
    public static void main(String[] args) throws IOException {
        Thread parent = new Thread(Upstream::endWithParent, "parent");
        parent.setDaemon(true);
        parent.start();
        try (ServerSocket listening = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
            System.out.println("port " + listening.getLocalPort());
            while (true) {
                Socket connection = listening.accept();
                connection.setTcpNoDelay(true);
                Thread thread = new Thread(() -> answer(connection), "connection");
                thread.setDaemon(true);
                thread.start();
            }
        }
    }

    private static void answer(Socket connection) {
        try (connection) {
            InputStream in = new BufferedInputStream(connection.getInputStream());
            int matched = 0;
            for (int c = in.read(); c >= 0; c = in.read()) {
                matched = c == END.charAt(matched) ? matched + 1 : c == '\r' ? 1 : 0;
                if (matched == END.length()) {
                    matched = 0;
                    connection.getOutputStream().write(ANSWER);
                }
            }
        } catch (IOException gone) {
            // The gateway has closed it.
        }
    }

    /** The standard input is a pipe from the parent; the system closes it when the parent ends. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent never writes.
            }
        } catch (IOException closed) {
            // Means the same as the end of the input.
        }
        System.exit(0);
    }
}

package io.fairgate.benchmarks.peer;

import io.fairgate.benchmarks.process.ParentProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Answers every request with 200, with nothing but the JDK: what the start of a JVM costs before any library. */
public final class OneAnswer {

    private static final byte[] OK =
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private OneAnswer() {}

    /** Runs until it is killed, or its parent process has ended. The only argument is the port. */
    public static void main(String[] args) throws IOException {
        ParentProcess.endWithIt();
        try (ServerSocket server = new ServerSocket(Integer.parseInt(args[0]), 1, InetAddress.getLoopbackAddress())) {
            while (true) {
                try (Socket socket = server.accept()) {
                    InputStream request = socket.getInputStream();
                    if (request.read() >= 0) {
                        socket.getOutputStream().write(OK);
                    }
                }
            }
        }
    }
}

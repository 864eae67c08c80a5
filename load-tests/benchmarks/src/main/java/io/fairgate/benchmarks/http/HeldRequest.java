package io.fairgate.benchmarks.http;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A request whose answer is not read. */
final class HeldRequest implements AutoCloseable {

    private final Socket socket;

    HeldRequest(int port, String path, String tenant) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Tenant-Id: " + tenant + "\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

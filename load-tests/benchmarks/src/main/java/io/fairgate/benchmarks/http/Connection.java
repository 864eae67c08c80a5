package io.fairgate.benchmarks.http;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A persistent HTTP/1.1 connection for one thread, with one request at a time. */
final class Connection implements AutoCloseable {

    private static final String LENGTH = "content-length:";
    private static final int SILENCE_MILLIS = 120_000;

    /** @param body empty if there was none */
    record Answer(int status, String body) {}

    private final Socket socket;
    private final InputStream in;

    Connection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(SILENCE_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** @param head the request line and all header lines but Host and Content-Length, each with its line end */
    Answer send(String head, String body) throws IOException {
        String request = head + "Host: localhost\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        int status = Integer.parseInt(line().substring(9, 12));
        int length = 0;
        for (String field = line(); !field.isEmpty(); field = line()) {
            if (field.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
                length = Integer.parseInt(field.substring(LENGTH.length()).strip());
            }
        }
        return new Answer(status, new String(in.readNBytes(length), StandardCharsets.UTF_8));
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("closed after: " + line);
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

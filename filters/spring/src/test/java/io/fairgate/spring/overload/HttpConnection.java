package io.fairgate.spring.overload;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** A connection of HTTP/1.1 with one request at a time, so that a test knows which connection a request takes. */
final class HttpConnection implements Closeable {

    private static final int SILENCE_MILLIS = 30_000;

    /** @param fields by name in any case */
    record Answer(int status, Map<String, String> fields, String body) {

        String field(String name) {
            return Objects.requireNonNull(fields.get(name), () -> name + " in " + fields);
        }
    }

    private final Socket socket;
    private final InputStream in;

    HttpConnection(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(SILENCE_MILLIS);
        in = new BufferedInputStream(socket.getInputStream());
    }

    Answer get(String path, String tenant) throws IOException {
        String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Tenant-Id: " + tenant + "\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        int status = Integer.parseInt(line().substring(9, 12));
        Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
        }
        return new Answer(status, fields, fields.containsKey("Content-Length") ? body(fields) : chunks());
    }

    private String body(Map<String, String> fields) throws IOException {
        int length = Integer.parseInt(Objects.requireNonNull(fields.get("Content-Length")));
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }

    private String chunks() throws IOException {
        StringBuilder body = new StringBuilder();
        for (int length = Integer.parseInt(line(), 16); length > 0; length = Integer.parseInt(line(), 16)) {
            body.append(new String(in.readNBytes(length), StandardCharsets.UTF_8));
            line();
        }
        line();
        return body.toString();
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

    /** Whether the other end closes the connection. */
    boolean hasEnded() throws IOException {
        return in.read() < 0;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

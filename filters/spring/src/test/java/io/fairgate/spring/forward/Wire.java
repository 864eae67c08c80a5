package io.fairgate.spring.forward;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/** One end of an HTTP/1.1 connection, byte by byte: nothing is interpreted but the framing of bodies. */
final class Wire implements AutoCloseable {

    /** Longer bodies are shown by their size and a checksum. */
    private static final int SHOWN = 400;

    private final Socket socket;
    private final InputStream in;

    /** Of the last body. */
    private List<String> trailers = List.of();

    Wire(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream());
    }

    /** The start line and the fields of a message, each line as it was sent. */
    record Head(String start, List<String> fields) {

        /** The values of all fields of this name. */
        List<String> values(String name) {
            return fields.stream()
                    .filter(field -> field.regionMatches(true, 0, name + ":", 0, name.length() + 1))
                    .map(field -> field.substring(name.length() + 1).trim())
                    .toList();
        }

        boolean isChunked() {
            return values("Transfer-Encoding").stream().anyMatch("chunked"::equalsIgnoreCase);
        }

        /** The same for each order of fields with different names. */
        String text() {
            return start + "\n" + sorted(fields);
        }
    }

    /** What followed a head. */
    record Body(String framing, String content, List<String> trailers, boolean isWhole) {

        static final Body NONE = new Body("no body", "", List.of(), true);

        String text() {
            CRC32 checksum = new CRC32();
            checksum.update(content.getBytes(StandardCharsets.ISO_8859_1));
            int length = content.length();
            String shown = length > SHOWN ? "checksum " + checksum.getValue() : content;
            return "  (%s, %d bytes%s) %s\n".formatted(framing, length, isWhole ? "" : ", broken off", shown)
                    + (trailers.isEmpty() ? "" : "  (trailers)\n" + sorted(trailers));
        }
    }

    /** All fields of a name are shown in the case of the first one, because the case of names means nothing. */
    private static String sorted(List<String> fields) {
        Map<String, String> names = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        StringBuilder text = new StringBuilder();
        fields.stream()
                .sorted(Comparator.comparing((String field) -> nameOf(field).toLowerCase(Locale.ROOT)))
                .forEach(field -> {
                    String name = nameOf(field);
                    String shown = names.computeIfAbsent(name, first -> first);
                    text.append("  ")
                            .append(shown)
                            .append(field.substring(name.length()))
                            .append('\n');
                });
        return text.toString();
    }

    private static String nameOf(String field) {
        int colon = field.indexOf(':');
        return colon < 0 ? field : field.substring(0, colon);
    }

    static String latin1(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    void send(String text) throws IOException {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /** The next head, or null when the connection has ended instead. */
    @Nullable
    Head head() throws IOException {
        try {
            String start = line();
            if (start == null) {
                return null;
            }
            List<String> fields = fields();
            return fields == null ? null : new Head(start, fields);
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException reset) {
            return null;
        }
    }

    /** The body behind a head that has one; without a length it lasts until the end of the connection. */
    Body body(Head head) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        trailers = List.of();
        String framing =
                head.isChunked() ? "chunked" : head.values("Content-Length").isEmpty() ? "until closed" : "length";
        boolean whole = false;
        try {
            whole = switch (framing) {
                case "chunked" -> chunks(bytes);
                case "length" ->
                    copy(bytes, Long.parseLong(head.values("Content-Length").get(0)));
                default -> copyAll(bytes);
            };
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException reset) {
            // The rest is missing.
        }
        return new Body(framing, latin1(bytes.toByteArray()), trailers, whole);
    }

    private boolean chunks(ByteArrayOutputStream bytes) throws IOException {
        byte[] chunk = chunk();
        while (chunk != null && chunk.length > 0) {
            bytes.writeBytes(chunk);
            chunk = chunk();
        }
        return chunk != null;
    }

    /** The next chunk of a body, empty for the last one with its trailers; null when the connection has ended. */
    byte @Nullable [] chunk() throws IOException {
        String size = line();
        if (size == null) {
            return null;
        }
        int length = Integer.parseInt(size.split(";", 2)[0].trim(), 16);
        byte[] chunk = in.readNBytes(length);
        List<String> behind = length == 0 ? fields() : line() == null ? null : List.of();
        trailers = behind == null ? List.of() : behind;
        return chunk.length < length || behind == null ? null : chunk;
    }

    private boolean copy(ByteArrayOutputStream bytes, long length) throws IOException {
        byte[] buffer = new byte[16_384];
        long missing = length;
        while (missing > 0) {
            int read = in.read(buffer, 0, (int) Math.min(buffer.length, missing));
            if (read < 0) {
                return false;
            }
            bytes.write(buffer, 0, read);
            missing -= read;
        }
        return true;
    }

    private boolean copyAll(ByteArrayOutputStream bytes) throws IOException {
        in.transferTo(bytes);
        return true;
    }

    private @Nullable List<String> fields() throws IOException {
        List<String> fields = new ArrayList<>();
        for (String line = line(); line != null; line = line()) {
            if (line.isEmpty()) {
                return fields;
            }
            fields.add(line);
        }
        return null;
    }

    private @Nullable String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0; next = in.read()) {
            if (next == '\n') {
                String text = line.toString(StandardCharsets.ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(next);
        }
        return null;
    }

    /** Reads what comes until the other end has closed the connection. */
    void awaitClose() {
        try {
            while (in.read() >= 0) {}
        } catch (IOException e) {
            // A reset is a close as well.
        }
    }

    Socket socket() {
        return socket;
    }

    InputStream in() {
        return in;
    }

    boolean isClosed() {
        return socket.isClosed();
    }

    /** Ends the connection with a reset. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

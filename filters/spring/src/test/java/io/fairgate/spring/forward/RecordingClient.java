package io.fairgate.spring.forward;

import io.fairgate.spring.forward.Wire.Body;
import io.fairgate.spring.forward.Wire.Head;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A client that sends what a test says, and records every byte that it got. */
final class RecordingClient implements AutoCloseable {

    /** What differs from one request to the next by its nature. */
    private static final Pattern VOLATILE = Pattern.compile("(?<=\"decision\":\")[^\"]*|(?<=\"timestamp\":\")[^\"]*"
            + "|(?<=\"requestId\":\")[^\"]*|(?<=fairgate;dur=)[0-9.]+|(?<=;t=)[0-9]+|(?<=Retry-After: )[0-9]{2,}"
            + "|(?<=Cache-Control: max-age=)[0-9]+");

    private static final Pattern LENGTHS = Pattern.compile("(?<=Content-Length: )\\d+|(?<=\\(length, )\\d+");

    private final Way way;
    private final Wire wire;
    private final StringBuilder record = new StringBuilder();

    /** @param way of forwarding of the gateway at this port */
    RecordingClient(Way way, int port) throws IOException {
        this.way = way;
        wire = new Wire(new Socket(InetAddress.getLoopbackAddress(), port));
        wire.socket().setSoTimeout((int) Patience.LIMIT.toMillis());
    }

    /** A request of the tenant {@code a} without a body. */
    static String request(String method, String target, String... fields) {
        return message(method, target, "", fields);
    }

    /** A request of the tenant {@code a}. */
    static String requestWithBody(String method, String target, String body, String... fields) {
        String[] all = Arrays.copyOf(fields, fields.length + 1);
        all[fields.length] = "Content-Length: " + body.length();
        return message(method, target, body, all);
    }

    private static String message(String method, String target, String body, String[] fields) {
        StringBuilder text = new StringBuilder(method + " " + target + " HTTP/1.1\r\n");
        text.append("Host: client.test\r\nX-Tenant-Id: a\r\n");
        for (String field : fields) {
            text.append(field).append("\r\n");
        }
        return text.append("\r\n").append(body).toString();
    }

    RecordingClient send(String text) throws IOException {
        wire.send(text);
        return this;
    }

    Way way() {
        return way;
    }

    Wire wire() {
        return wire;
    }

    /** Reads one response to another method than HEAD. */
    @Nullable
    Head response() throws IOException {
        return response(false);
    }

    /** Reads one response with the interim responses before it; the one to a HEAD has no body. */
    @Nullable
    Head response(boolean toHead) throws IOException {
        Head head = wire.head();
        while (head != null
                && head.start().startsWith("HTTP/1.1 1")
                && !head.start().contains(" 101 ")) {
            note(head);
            head = wire.head();
        }
        if (head == null) {
            note(head);
        } else {
            Body body = toHead || hasNoBody(head) ? Body.NONE : wire.body(head);
            String text = head.text() + body.text();
            // The ids of errors are not all of one length.
            record.append(
                    body.content().contains("Id\":\"") ? LENGTHS.matcher(text).replaceAll("...") : text);
        }
        return head;
    }

    private static boolean hasNoBody(Head head) {
        int status = Integer.parseInt(head.start().split(" ", 3)[1]);
        return status == 101 || status == 204 || status == 304;
    }

    /** Reads the next head, of an interim response or of a final one. */
    @Nullable
    Head head() throws IOException {
        Head head = wire.head();
        note(head);
        return head;
    }

    private void note(@Nullable Head head) {
        record.append(head == null ? "the gateway closed the connection\n" : head.text());
    }

    /** Records what a test has seen itself. */
    void note(String text) {
        record.append(text).append('\n');
    }

    /** Sends one more request, and records only whether the connection still works. */
    void probe() throws IOException {
        Head head;
        try {
            wire.send(request("GET", RecordingUpstream.PROBE));
            head = wire.head();
        } catch (IOException closed) {
            head = null;
        }
        if (head == null) {
            note("the connection was closed");
        } else {
            Body body = wire.body(head);
            note("the connection is kept: " + head.start() + " " + body.content());
        }
    }

    String text() {
        return VOLATILE.matcher(record).replaceAll("...");
    }

    @Override
    public void close() throws IOException {
        wire.close();
    }
}

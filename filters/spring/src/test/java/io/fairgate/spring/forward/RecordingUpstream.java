package io.fairgate.spring.forward;

import io.fairgate.spring.forward.Wire.Body;
import io.fairgate.spring.forward.Wire.Head;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/** An upstream that answers as a test says, and records every byte that it got. It listens on loopback. */
final class RecordingUpstream implements AutoCloseable {

    /** Answered by the upstream itself, so that a test can ask whether a connection still works. */
    static final String PROBE = "/probe";

    /** What to do with a request. The connection stays open unless the script closes it. */
    interface Script {
        void answer(Request request) throws Exception;
    }

    static final Script OK = answer("HTTP/1.1 200 OK", "Content-Length: 2", "", "ok");

    /** Of the client, in the field Forwarded. */
    private static final Pattern CLIENT_PORT = Pattern.compile("(?<=for=\"127\\.0\\.0\\.1:)\\d+");

    private final ServerSocket server;
    private final Set<Wire> open = ConcurrentHashMap.newKeySet();
    private final List<Request> requests = new ArrayList<>();
    private volatile Script script = OK;

    RecordingUpstream() {
        this(ServerSocketFactory.getDefault());
    }

    RecordingUpstream(ServerSocketFactory sockets) {
        try {
            server = sockets.createServerSocket(0, 64, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::acceptAll);
    }

    /** Reads the whole request and answers with these lines, the last of which is the body. */
    static Script answer(String... lines) {
        String text = String.join("\r\n", lines);
        return request -> {
            request.body();
            request.send(text);
        };
    }

    int port() {
        return server.getLocalPort();
    }

    /** Forgets all requests, and answers the following ones in this way. */
    void answerWith(Script script) {
        synchronized (requests) {
            requests.clear();
        }
        this.script = script;
    }

    /** How many requests have arrived since the last {@link #answerWith}. */
    int arrived() {
        synchronized (requests) {
            return requests.size();
        }
    }

    /** The requests since the last {@link #answerWith}, in the order of their arrival, when all are answered. */
    List<Request> requests() {
        List<Request> now;
        synchronized (requests) {
            now = List.copyOf(requests);
        }
        Patience.until("an upstream that has nothing to do", () -> now.stream().allMatch(request -> request.done));
        return now;
    }

    /**
     * Waits until all requests since the last {@link #answerWith} are answered, and their connections closed if the script
     * closes them.
     */
    void awaitDone() {
        var unused = requests();
    }

    /** What was recorded since the last {@link #answerWith}, without probes. */
    String text() {
        return requests().stream()
                .filter(request -> !request.isProbe())
                .map(Request::text)
                .collect(Collectors.joining());
    }

    /** How many connections had requests since the last {@link #answerWith}, probes included. */
    long connections() {
        return requests().stream().map(Request::wire).distinct().count();
    }

    /** One request, from the arrival of its head. */
    static final class Request {
        private final int number;
        private final Wire wire;
        private final Head head;
        private final List<String> notes = new ArrayList<>();
        private @Nullable Body body;
        private volatile boolean done;

        Request(int number, Wire wire, Head head) {
            this.number = number;
            this.wire = wire;
            this.head = head;
        }

        /** 1 for the first since the last {@link #answerWith}. */
        int number() {
            return number;
        }

        Head head() {
            return head;
        }

        /** Waits for the whole body. */
        Body body() throws IOException {
            if (body == null) {
                boolean none =
                        !head.isChunked() && head.values("Content-Length").isEmpty();
                body = none ? Body.NONE : wire.body(head);
            }
            return body;
        }

        /** The next chunk of the body, instead of the whole; empty for the last one. */
        String chunk() throws IOException {
            byte[] chunk = wire.chunk();
            if (chunk == null) {
                throw new IOException("the body was broken off");
            }
            if (chunk.length == 0) {
                bodyWasRead();
            }
            notes.add("  chunk " + Wire.latin1(chunk) + "\n");
            return Wire.latin1(chunk);
        }

        /** The script has read the body itself. */
        void bodyWasRead() {
            body = Body.NONE;
        }

        Wire wire() {
            return wire;
        }

        void send(String text) throws IOException {
            wire.send(text);
        }

        /** Closes the connection, and waits until the gateway has noticed: it sends no other request on it then. */
        void close() throws IOException {
            wire.socket().shutdownOutput();
            wire.awaitClose();
            wire.close();
        }

        void reset() throws IOException {
            wire.reset();
        }

        /** Waits until the gateway has closed the connection, and records that it has. */
        void awaitClose() throws IOException {
            wire.awaitClose();
            notes.add("  the gateway closed the connection\n");
            wire.close();
        }

        private boolean isProbe() {
            return head.start().contains(" " + PROBE + " ");
        }

        private String text() {
            return CLIENT_PORT.matcher(head.text()).replaceAll("...")
                    + (body == null ? "  (body not read)\n" : body.text())
                    + String.join("", notes);
        }
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                daemon(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (Wire wire = new Wire(socket)) {
            open.add(wire);
            for (Head head = wire.head(); head != null; head = wire.isClosed() ? null : wire.head()) {
                serve(record(wire, head));
            }
            open.remove(wire);
        } catch (IOException e) {
            // The connection is gone; the test sees it from the other side.
        }
    }

    private Request record(Wire wire, Head head) {
        synchronized (requests) {
            Request request = new Request(requests.size() + 1, wire, head);
            requests.add(request);
            return request;
        }
    }

    private void serve(Request request) throws IOException {
        try {
            (request.isProbe() ? OK : script).answer(request);
            if (!request.wire.isClosed()) {
                request.body();
            }
        } catch (Exception e) {
            request.notes.add("  the upstream failed: " + e + "\n");
            request.wire.close();
        } finally {
            request.done = true;
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "upstream");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Wire wire : open) {
                wire.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

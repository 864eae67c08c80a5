package io.fairgate.gateway;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * An upstream that does what a test says, byte by byte, and counts its concurrent requests. It listens on loopback with daemon
 * threads, and ends with the test or, as a static extension, with the last test of its class.
 */
final class ScriptedUpstream implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    /** What to do with a request; the connection is closed when it returns, unless it says to keep it. */
    interface Script {
        void answer(Exchange exchange) throws Exception;
    }

    static final Script OK = exchange -> exchange.sendLast("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");

    private final ServerSocket server;
    private final Map<String, Script> scripts = new ConcurrentHashMap<>();
    private final Set<String> readingItself = ConcurrentHashMap.newKeySet();
    private final AtomicInteger now = new AtomicInteger();
    private final AtomicInteger highest = new AtomicInteger();
    private final Queue<String> heads = new ConcurrentLinkedQueue<>();
    private final Queue<Received> received = new ConcurrentLinkedQueue<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private boolean ofTheClass;

    ScriptedUpstream() {
        try {
            server = new ServerSocket(0, 512, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::acceptAll);
    }

    ScriptedUpstream on(String path, Script script) {
        scripts.put(path, script);
        return this;
    }

    /** The script begins when the head has come, and reads the body itself. */
    ScriptedUpstream onHead(String path, Script script) {
        readingItself.add(path);
        return on(path, script);
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    int port() {
        return server.getLocalPort();
    }

    /** The heads of the requests, in the order of their arrival. */
    List<String> heads() {
        return List.copyOf(heads);
    }

    /** Request lines, in the order of their arrival. */
    List<String> requests() {
        return heads.stream().map(ScriptedUpstream::requestLine).toList();
    }

    /** The requests that have come as a whole, in this order. */
    List<Received> received() {
        return List.copyOf(received);
    }

    void forgetRequests() {
        heads.clear();
        received.clear();
    }

    int highestConcurrency() {
        return highest.get();
    }

    /** Connections that are open on this side. */
    int connections() {
        return open.size();
    }

    int concurrency() {
        return now.get();
    }

    /** Called for a static extension only. */
    @Override
    public void beforeAll(ExtensionContext tests) {
        ofTheClass = true;
    }

    @Override
    public void afterEach(ExtensionContext test) throws IOException {
        if (!ofTheClass) {
            close();
        }
    }

    @Override
    public void afterAll(ExtensionContext tests) throws IOException {
        close();
    }

    private void close() throws IOException {
        server.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    /** A request as it came; of a long body only the beginning. */
    record Received(String head, String body) {}

    /** One request that has arrived as a whole. */
    record Exchange(String head, Socket socket, InputStream in, Runnable end) {

        /**
         * The last bytes of the answer. The request counts as ended before they are written, because the gateway may
         * send the next request before this thread counts.
         */
        void sendLast(String text) throws IOException {
            end.run();
            send(text);
        }

        void send(String text) throws IOException {
            OutputStream out = socket.getOutputStream();
            out.write(text.getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }

        /** Ends the connection with a reset instead of a close. */
        void reset() throws IOException {
            end.run();
            socket.setSoLinger(true, 0);
            socket.close();
        }

        long contentLength() {
            return head.lines()
                    .filter(line -> line.regionMatches(true, 0, "content-length:", 0, 15))
                    .mapToLong(line -> Long.parseLong(line.substring(15).trim()))
                    .findFirst()
                    .orElse(0);
        }

        /** Waits until the gateway has closed the connection. */
        void awaitClose() {
            try {
                while (in.read() >= 0) {}
            } catch (IOException e) {
                // A reset is a close as well.
            }
        }

        void await(CountDownLatch latch) throws InterruptedException {
            latch.await();
        }
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                daemon(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            for (String head = readHead(in); !head.isEmpty() && !socket.isClosed(); head = readHead(in)) {
                answer(head, socket, in);
            }
        } catch (Exception e) {
            // The connection is gone; the test sees it from its own side.
        } finally {
            open.remove(socket);
        }
    }

    private void answer(String head, Socket socket, InputStream in) throws Exception {
        AtomicInteger counted = new AtomicInteger(1);
        Exchange exchange = new Exchange(head, socket, in, () -> now.addAndGet(-counted.getAndSet(0)));
        heads.add(head);
        String path = requestLine(head).split(" ", 3)[1];
        highest.accumulateAndGet(now.incrementAndGet(), Math::max);
        try {
            boolean isLeft = path.startsWith("/ws") || readingItself.contains(path);
            RawBody body = isLeft ? new RawBody(true, "") : RawBody.read(head, in);
            if (body.isComplete()) {
                received.add(new Received(head, body.text()));
                scripts.getOrDefault(path, OK).answer(exchange);
            }
        } finally {
            exchange.end().run();
        }
    }

    private static String requestLine(String head) {
        return head.lines().findFirst().orElse("");
    }

    private static String readHead(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        int c;
        while ((c = in.read()) >= 0) {
            head.append((char) c);
            if (head.length() >= 4 && head.substring(head.length() - 4).equals("\r\n\r\n")) {
                return head.toString();
            }
        }
        return "";
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "scripted-upstream");
        thread.setDaemon(true);
        thread.start();
    }
}

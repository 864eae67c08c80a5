package io.fairgate.spring.forward;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One instance of an upstream, on a port of its own: it can be stopped and started again, and does what a script says. */
final class ScriptedInstance implements AutoCloseable {

    private static final int MOST_ATTEMPTS = 100;

    /** What the instance does with one request, whose body it has read. */
    interface Script {
        void answer(Answer client, String request) throws Exception;
    }

    static final Script OK = (client, request) ->
            client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + (request.startsWith("HEAD") ? "" : "ok"));

    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger atWork = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final InetAddress address;
    private final int port;
    private volatile Script script = OK;
    private @Nullable ServerSocket server;

    ScriptedInstance(InetAddress address) {
        this.address = address;
        try {
            server = new ServerSocket(0, 200, address);
            port = server.getLocalPort();
            accept(server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ScriptedInstance onLoopback() {
        return new ScriptedInstance(InetAddress.getLoopbackAddress());
    }

    int port() {
        return port;
    }

    String name() {
        return "127.0.0.1:" + port;
    }

    /** Refuses connections, and resets those that are open. */
    synchronized void stop() {
        try {
            if (server != null) {
                server.close();
                server = null;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        open.forEach(ScriptedInstance::reset);
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException closed) {
            // The other end was faster.
        }
    }

    synchronized void start() {
        if (server != null) {
            return;
        }
        try {
            ServerSocket bound = bind();
            server = bound;
            accept(bound);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The connection of another process may have the port for a moment. */
    private ServerSocket bind() throws IOException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            ServerSocket bound = new ServerSocket();
            try {
                bound.setReuseAddress(true);
                bound.bind(new InetSocketAddress(address, port), 200);
                return bound;
            } catch (BindException taken) {
                bound.close();
                if (attempt == MOST_ATTEMPTS) {
                    throw taken;
                }
                Thread.sleep(50);
            }
        }
    }

    private void accept(ServerSocket from) {
        run("accept", () -> {
            while (true) {
                Socket socket = from.accept();
                open.add(socket);
                run("serve", () -> serve(socket));
            }
        });
    }

    private interface Work {
        void run() throws Exception;
    }

    private void run(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Exception ended) {
                        // The test has closed a socket, or the gateway has.
                    }
                },
                name + "-" + port);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket socket) throws Exception {
        try (Wire wire = new Wire(socket)) {
            for (Wire.Head head = wire.head(); head != null; head = wire.head()) {
                requests.add(head.start() + " " + head.values("Host").get(0));
                most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                Answer answer = new Answer(wire);
                try {
                    if (head.isChunked() || !head.values("Content-Length").isEmpty()) {
                        wire.body(head);
                    }
                    script.answer(answer, head.start());
                } finally {
                    answer.begin();
                }
            }
        } finally {
            open.remove(socket);
        }
    }

    /** The answer to one request, which counts as work until it begins: then the gateway may send the next one. */
    final class Answer {

        private final Wire wire;
        private final AtomicBoolean hasBegun = new AtomicBoolean();

        Answer(Wire wire) {
            this.wire = wire;
        }

        void send(String text) throws IOException {
            begin();
            wire.send(text);
        }

        void reset() throws IOException {
            wire.socket().setSoLinger(true, 0);
            wire.close();
        }

        /** Answers nothing until the instance is stopped. */
        void hang() throws InterruptedException {
            while (!wire.socket().isClosed()) {
                Thread.sleep(5);
            }
        }

        private void begin() {
            if (!hasBegun.getAndSet(true)) {
                atWork.decrementAndGet();
            }
        }
    }

    void does(Script next) {
        script = next;
    }

    /** The request lines, each with the value of {@code Host}, since the last {@link #forget}. */
    List<String> requests() {
        return requests;
    }

    int atWork() {
        return atWork.get();
    }

    /** The most requests at work at one moment. */
    int most() {
        return most.get();
    }

    void forget() {
        requests.clear();
        most.set(0);
    }

    @Override
    public void close() {
        stop();
    }
}

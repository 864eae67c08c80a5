package io.fairgate.redis.connection;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Forwards connections to a local port, and can let those that exist go silent: what comes on them is read and thrown away, as if the
 * network in between had forgotten them.
 */
public final class CutProxy implements AutoCloseable {

    private final ServerSocket server;
    private final int to;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    /** Connections that were accepted before this one, by their number, are silent. */
    private volatile int silentBefore;

    public CutProxy(int to) throws IOException {
        this.to = to;
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /** How many connections have come. */
    public int accepted() {
        return accepted.get();
    }

    /** How many connections are open now. */
    public int open() {
        return open.get();
    }

    /** Whether new connections are silent from the beginning. */
    public void silenceNew(boolean isSilent) {
        silentBefore = isSilent ? Integer.MAX_VALUE : accepted.get();
    }

    /** Lets all present connections go silent; those that come later are forwarded. */
    public void silence() {
        silentBefore = accepted.get();
    }

    private static void start(IoTask task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (SocketException closed) {
                        // The end of a connection, or of the test.
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                "cut-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private interface IoTask {
        void run() throws IOException;
    }

    private void accept() throws IOException {
        while (!server.isClosed()) {
            Socket client = server.accept();
            sockets.add(client);
            int number = accepted.getAndIncrement();
            start(() -> forward(number, client));
        }
    }

    private void forward(int number, Socket client) throws IOException {
        open.incrementAndGet();
        try (client;
                Socket upstream = new Socket(InetAddress.getLoopbackAddress(), to)) {
            sockets.add(upstream);
            start(() -> copy(number, upstream, client));
            copy(number, client, upstream);
        } finally {
            open.decrementAndGet();
        }
    }

    private void copy(int number, Socket from, Socket to) throws IOException {
        byte[] buffer = new byte[8192];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (number >= silentBefore) {
                    out.write(buffer, 0, n);
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}

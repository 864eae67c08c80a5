package io.fairgate.gateway;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;

/**
 * A network between a client and a server, on loopback. It forwards every request, but may lose an answer together with the
 * connection: the server has then acted, and the client does not know.
 */
final class LossyRelay implements AutoCloseable {

    private final ServerSocket listening;
    private final int serverPort;
    private final IntPredicate isLost;
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();
    private final Set<Closeable> open = ConcurrentHashMap.newKeySet();

    /** @param isLost by the number of the answer, the first is 1 */
    LossyRelay(int serverPort, IntPredicate isLost) throws IOException {
        this.serverPort = serverPort;
        this.isLost = isLost;
        this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** How many answers were lost until now. */
    int lost() {
        return lost.get();
    }

    /** Ends all connections there are; new ones may come. */
    void cut() {
        open.forEach(LossyRelay::end);
    }

    @Override
    public void close() {
        end(listening);
        cut();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listening.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
            Closeable both = () -> {
                end(client);
                end(server);
            };
            open.add(both);
            start(() -> forward(client, server, both, false));
            start(() -> forward(server, client, both, true));
            if (listening.isClosed()) {
                end(both);
            }
        }
    }

    /** An answer is short, and written at once: what is read at once is one. */
    private void forward(Socket from, Socket to, Closeable both, boolean areAnswers) throws IOException {
        try (both) {
            InputStream in = from.getInputStream();
            byte[] bytes = new byte[16 * 1024];
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                if (areAnswers && isLost.test(answers.incrementAndGet())) {
                    lost.incrementAndGet();
                    return;
                }
                to.getOutputStream().write(bytes, 0, read);
            }
        } finally {
            open.remove(both);
        }
    }

    private interface Pump {
        void run() throws IOException;
    }

    private static void start(Pump pump) {
        Thread thread = new Thread(
                () -> {
                    try {
                        pump.run();
                    } catch (IOException closed) {
                        // The usual end of a connection, and of a test.
                    }
                },
                "lossy-relay");
        thread.setDaemon(true);
        thread.start();
    }

    private static void end(Closeable connection) {
        try {
            connection.close();
        } catch (IOException closed) {
            // Then it is.
        }
    }
}

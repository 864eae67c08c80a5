package io.fairgate.load;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** An upstream on loopback that answers each request with an empty body, after a time that may depend on its URI. */
final class SlowUpstream implements AutoCloseable {

    private static final int THREADS = 4;

    private final ScheduledExecutorService clock = Executors.newScheduledThreadPool(THREADS);
    private final HttpServer server;
    private final Function<URI, Duration> time;

    SlowUpstream(int port, Function<URI, Duration> time) {
        this.time = time;
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        } catch (BindException taken) {
            throw new IllegalStateException(
                    "port %d is in use already; end what uses it, or name another by -DupstreamPort=PORT"
                            .formatted(port),
                    taken);
        } catch (IOException broken) {
            throw new IllegalStateException("no upstream at port " + port, broken);
        }
        server.createContext("/", this::answerLater);
        server.setExecutor(clock);
        server.start();
    }

    private void answerLater(HttpExchange exchange) {
        long nanos = time.apply(exchange.getRequestURI()).toNanos();
        var unused = clock.schedule(() -> answer(exchange), nanos, TimeUnit.NANOSECONDS);
    }

    private static void answer(HttpExchange exchange) {
        try (exchange) {
            exchange.sendResponseHeaders(200, -1);
        } catch (IOException gone) {
            // The client has left.
        }
    }

    @Override
    public void close() {
        server.stop(0);
        clock.shutdownNow();
    }
}

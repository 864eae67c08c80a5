package io.fairgate.gateway.http;

import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** A server on a port of its own, with event loops of its own, so that it can end at once and by itself. */
public final class HttpFace {

    private final LoopResources loops;
    private final DisposableServer server;

    private HttpFace(LoopResources loops, DisposableServer server) {
        this.loops = loops;
        this.server = server;
    }

    /**
     * Listens from now on. Blocks until it does.
     *
     * @param failures what turns errors of the handler into answers, in order; what none of them takes is a 500
     * @throws reactor.netty.ChannelBindException when the port is taken
     */
    public static HttpFace listen(InetSocketAddress address, WebHandler handler, List<WebExceptionHandler> failures) {
        LoopResources loops = LoopResources.create("fairgate-leases", LoopResources.DEFAULT_IO_WORKER_COUNT, true);
        try {
            DisposableServer server = HttpServer.create()
                    .runOn(loops)
                    .channelGroup(
                            new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)) // Knows what is being answered.
                    .bindAddress(() -> address)
                    .handle(new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(handler)
                            .codecConfigurer(new NoCodecs())
                            .exceptionHandlers(all -> all.addAll(failures))
                            .build()))
                    .bindNow();
            return new HttpFace(loops, server);
        } catch (RuntimeException e) {
            loops.dispose();
            throw e;
        }
    }

    public int port() {
        return server.port();
    }

    /** Takes no more connections, gives what is being answered that long, and ends. Blocks meanwhile. */
    public void end(Duration patience) {
        try {
            server.disposeNow(patience);
        } catch (IllegalStateException patienceIsOver) {
            // What is not answered by now is cut off with the event loops.
        }
        loops.disposeLater(Duration.ZERO, patience).onErrorComplete().subscribe(); // Later than that is no error.
    }
}

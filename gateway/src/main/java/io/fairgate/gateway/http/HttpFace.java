package io.fairgate.gateway.http;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.server.WebExceptionHandler;
import org.springframework.web.server.WebHandler;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.resources.LoopResources;

/** A server on a port of its own, with event loops of its own, so that it can end at once and by itself. */
public final class HttpFace {

    /** Of a connection without a request. */
    private static final Duration IDLE = Duration.ofSeconds(60);
    /** From the first byte of a request to the end of its headers. */
    private static final Duration HEADERS = Duration.ofSeconds(10);
    /** From the end of a request's headers to its last byte. */
    private static final Duration WHOLE_REQUEST = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(HttpFace.class);

    private final LoopResources loops;
    private final DisposableServer server;

    private HttpFace(LoopResources loops, DisposableServer server) {
        this.loops = loops;
        this.server = server;
    }

    /** The same, where a request whose target is no URI gets no body. */
    public static HttpFace listen(InetSocketAddress address, WebHandler handler, List<WebExceptionHandler> failures) {
        return listen(address, handler, failures, target -> "");
    }

    /**
     * Listens from now on. Blocks until it does.
     *
     * @param failures what turns errors of the handler into answers, in order; what none of them takes is a 500
     * @param malformed the problem that a request gets with its 400 whose target is no URI; empty for no body
     * @throws reactor.netty.ChannelBindException when the port is taken
     */
    public static HttpFace listen(
            InetSocketAddress address,
            WebHandler handler,
            List<WebExceptionHandler> failures,
            UnaryOperator<String> malformed) {
        ReactorHttpHandlerAdapter spring = new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(handler)
                .codecConfigurer(new NoCodecs())
                .exceptionHandlers(all -> {
                    all.addAll(failures);
                    all.add(new LeftClients());
                })
                .build());
        LoopResources loops = LoopResources.create("fairgate-http", LoopResources.DEFAULT_IO_WORKER_COUNT, true);
        try {
            DisposableServer server = bounded(HttpServer.create(), HEADERS)
                    .runOn(loops)
                    .bindAddress(() -> address)
                    .channelGroup(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)) // the end waits for answers
                    .handle((request, response) -> isUri(request.uri())
                            ? spring.apply(request, response).contextWrite(LeftClients::notLogged)
                            : refuse(response, malformed.apply(request.uri())))
                    .bindNow();
            return new HttpFace(loops, server);
        } catch (RuntimeException e) {
            loops.dispose();
            throw e;
        }
    }

    static HttpServer bounded(HttpServer server, Duration headers) {
        return BrokenBodies.refusedBy(server)
                .idleTimeout(IDLE)
                .requestTimeout(WHOLE_REQUEST)
                .doOnChannelInit((observer, channel, remote) -> HeaderTimeout.addTo(channel.pipeline(), headers));
    }

    /** Spring would make no exchange of any other, and answer by itself. */
    private static boolean isUri(String target) {
        try {
            URI.create(target.startsWith("/") ? "http://host" + target : target);
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    private static Mono<Void> refuse(HttpServerResponse response, String problem) {
        byte[] body = problem.getBytes(StandardCharsets.UTF_8);
        response.status(HttpResponseStatus.BAD_REQUEST).header(HttpHeaderNames.CONTENT_LENGTH, "" + body.length);
        if (body.length > 0) {
            response.header(HttpHeaderNames.CONTENT_TYPE, MediaType.APPLICATION_PROBLEM_JSON_VALUE)
                    .header(HttpHeaderNames.CACHE_CONTROL, "no-store");
        }
        return response.sendByteArray(Mono.just(body)).then();
    }

    /** Loads what {@link #listen} needs, most of which is Netty: who starts a server for itself alone waits mostly for that. */
    public static void load() {
        Epoll.isAvailable();
        HttpServer.create().configuration();
        WebHttpHandlerBuilder.webHandler(exchange -> Mono.empty())
                .codecConfigurer(new NoCodecs())
                .build();
    }

    public int port() {
        return server.port();
    }

    /**
     * Takes no more connections, gives what is being answered that long, and ends: what is not answered by then is broken
     * off. Blocks meanwhile.
     */
    public void end(Duration patience) {
        try {
            server.disposeNow(patience);
        } catch (IllegalStateException late) {
            log.warn("Calls that were not answered within {} are broken off.", patience);
        } finally {
            loops.disposeLater(Duration.ZERO, patience).onErrorComplete().subscribe(); // later than that is no error
        }
    }
}

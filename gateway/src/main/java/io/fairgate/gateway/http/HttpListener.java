package io.fairgate.gateway.http;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
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

/** A server on its own port, with its own event loops, so that it can be shut down at once and independently. */
public final class HttpListener {

    /** For a connection without a request. */
    private static final Duration IDLE = Duration.ofSeconds(60);
    /** From the first byte of a request to the end of its headers. */
    private static final Duration HEADERS = Duration.ofSeconds(10);
    /** From the end of a request's headers to its last byte. */
    private static final Duration WHOLE_REQUEST = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private final LoopResources loops;
    private final DisposableServer server;

    private HttpListener(LoopResources loops, DisposableServer server) {
        this.loops = loops;
        this.server = server;
    }

    /**
     * Starts to listen, for clients without a load balancer that uses the PROXY protocol. Blocks until it does.
     *
     * @param failures turn errors of the handler into answers, in this order; an error that none of them handles is a 500
     * @param malformed returns the problem for a request whose target is no URI, sent with the 400; empty for no body
     * @throws reactor.netty.ChannelBindException when the server cannot bind the address
     */
    public static HttpListener listen(
            InetSocketAddress address,
            WebHandler handler,
            List<WebExceptionHandler> failures,
            UnaryOperator<String> malformed) {
        return listen(address, handler, failures, malformed, peer -> false);
    }

    /**
     * The same.
     *
     * @param proxyProtocol the addresses from which connections begin with a header of the PROXY protocol
     */
    public static HttpListener listen(
            InetSocketAddress address,
            WebHandler handler,
            List<WebExceptionHandler> failures,
            UnaryOperator<String> malformed,
            Predicate<InetAddress> proxyProtocol) {
        ReactorHttpHandlerAdapter spring = new ReactorHttpHandlerAdapter(WebHttpHandlerBuilder.webHandler(handler)
                .codecConfigurer(new NoCodecs())
                .exceptionHandlers(all -> {
                    all.addAll(failures);
                    all.add(new DisconnectedClients());
                })
                .build());
        LoopResources loops = LoopResources.create("fairgate-http", LoopResources.DEFAULT_IO_WORKER_COUNT, true);
        try {
            DisposableServer server = ProxyProtocol.from(bounded(HttpServer.create(), HEADERS), proxyProtocol, HEADERS)
                    .runOn(loops)
                    .bindAddress(() -> address)
                    .channelGroup(
                            new DefaultChannelGroup(GlobalEventExecutor.INSTANCE)) // so that the end awaits answers
                    .handle((request, response) -> isUri(request.uri())
                            ? spring.apply(request, response).contextWrite(DisconnectedClients::notLogged)
                            : refuse(response, malformed.apply(request.uri())))
                    .bindNow();
            return new HttpListener(loops, server);
        } catch (RuntimeException e) {
            loops.dispose();
            throw e;
        }
    }

    static HttpServer bounded(HttpServer server, Duration headers) {
        HttpServer timed = server.idleTimeout(IDLE).requestTimeout(WHOLE_REQUEST);
        return HeaderTimeout.of(PipelinedRequests.inTurn(BrokenBodies.refusedBy(timed)), headers);
    }

    /** For a target that is no URI Spring would create no exchange, and would answer by itself. */
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

    /** Loads the classes that {@link #listen} needs, mostly Netty's. They take most of the time of a start of this server. */
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
     * Accepts no more connections, waits at most this time for the answers under way, and ends; answers that are not complete
     * by then are broken off. Blocks until the end.
     */
    public void end(Duration patience) {
        try {
            server.disposeNow(patience);
        } catch (IllegalStateException late) {
            log.warn("Calls that were not answered within {} are broken off.", patience);
        } finally {
            loops.disposeLater(Duration.ZERO, patience).onErrorComplete().subscribe(); // a late end is no error
        }
    }
}

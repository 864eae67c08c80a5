package io.fairgate.spring.upstream;

import io.fairgate.spring.exchange.Carried;
import io.fairgate.spring.exchange.ClientConnection;
import io.fairgate.spring.exchange.Exchanges;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.netty.channel.AbortedException;

/**
 * The attempts to send one request, each to another instance.
 *
 * @param attempt sends the request to an instance
 */
record Attempts(LiveUpstream upstream, ServerWebExchange exchange, Function<InstanceUse, Mono<Void>> attempt) {

    /** RFC 9110, 9.2.2. */
    private static final Set<HttpMethod> IDEMPOTENT = Set.of(
            HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS, HttpMethod.TRACE, HttpMethod.PUT, HttpMethod.DELETE);

    Mono<Void> send() {
        return Mono.defer(() -> next(Exchanges.instances(exchange), List.of(), null));
    }

    /** @param failure of the attempt before; null for the first one */
    private Mono<Void> next(List<Object> before, List<Object> tried, @Nullable Throwable failure) {
        String pool = Exchanges.pool(exchange);
        InstanceUse use = upstream.choose(before, tried, pool);
        if (use == null) {
            RoomQueue.Place place = upstream.room().enter();
            use = upstream.choose(before, tried, pool); // There may have been room just before the place.
            if (use == null && (failure == null || upstream.hasOther(tried))) {
                return place.left().then(onEventLoop(Mono.defer(() -> next(before, tried, failure))));
            }
            place.leave();
            if (use == null) { // The policy has changed, and has no other instance any more.
                return Mono.error(failure);
            }
        }
        return to(use, before, tried);
    }

    private Mono<Void> onEventLoop(Mono<Void> step) {
        Executor loop = ClientConnection.eventLoop(exchange);
        return loop == null ? step : step.subscribeOn(Schedulers.fromExecutor(loop));
    }

    private Mono<Void> to(InstanceUse use, List<Object> before, List<Object> triedBefore) {
        Exchanges.addInstance(exchange, use.instance());
        List<Object> tried = new ArrayList<>(triedBefore);
        tried.add(use.instance());
        return attempt.apply(use)
                .doFinally(end -> {
                    if (end == SignalType.CANCEL) {
                        use.left();
                    }
                })
                .onErrorResume(failure -> {
                    boolean isOfClient = use.hasBodyFailed() || ClientConnection.isClosed(exchange);
                    use.failed(failure, isOfClient);
                    Throwable told = isOfClient ? failure : ofInstance(failure);
                    if (isOfClient || !mayRepeat(use, failure, exchange.getRequest()) || !upstream.hasOther(tried)) {
                        return Mono.error(told);
                    }
                    upstream.repeated();
                    return onEventLoop(Mono.defer(() -> next(before, tried, told)));
                })
                .contextWrite(context -> Carried.with(context, use));
    }

    /** The HTTP client reports a pooled connection that was closed before it was used like a client that has left. */
    private static Throwable ofInstance(Throwable failure) {
        return failure instanceof AbortedException ? new IOException(failure.getMessage(), failure) : failure;
    }

    /** Whether the request had no effect, or may have it twice: then it must have no body, because bodies are not kept. */
    private static boolean mayRepeat(InstanceUse use, Throwable failure, ServerHttpRequest request) {
        boolean isOfConnection = failure instanceof IOException || failure instanceof AbortedException;
        return isOfConnection
                && !use.isAnswered()
                && (use.isUnsent(failure) || (IDEMPOTENT.contains(request.getMethod()) && !hasBody(request)));
    }

    private static boolean hasBody(ServerHttpRequest request) {
        HttpHeaders headers = request.getHeaders();
        return headers.getContentLength() > 0 || headers.containsHeader(HttpHeaders.TRANSFER_ENCODING);
    }
}

package io.fairgate.gateway.page;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import tools.jackson.databind.json.JsonMapper;

/** What the page shows, as server-sent events: one each second. The text of an event is made once for all pages that are open. */
final class PageStream implements HandlerFunction<ServerResponse>, ApplicationListener<ContextClosedEvent> {

    static final RequestPredicate REQUEST = RequestPredicates.GET("/page/stream");

    private static final int MOST_PAGES = 50;
    /** Then a browser asks again. A reader that reads nothing does not keep its place for ever. */
    private static final Duration LONGEST = Duration.ofMinutes(5);
    /** A browser that has lost the gateway asks again after this time. */
    private static final Duration RETRY = Duration.ofSeconds(2);

    private final Flux<String> texts;
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final AtomicInteger open = new AtomicInteger();

    PageStream(Flux<PageState> states, JsonMapper json) {
        this.texts = states.map(json::writeValueAsString).replay(1).refCount();
    }

    @Override
    public Mono<ServerResponse> handle(ServerRequest request) {
        // Counted only when it begins, so that a client that leaves before does not keep its place: some more may begin
        // at once.
        if (open.get() >= MOST_PAGES) {
            return ServerResponse.status(HttpStatus.SERVICE_UNAVAILABLE).build();
        }
        Flux<ServerSentEvent<String>> events = texts.onBackpressureLatest()
                .map(text -> ServerSentEvent.builder(text).retry(RETRY).build())
                .takeUntilOther(
                        Mono.firstWithSignal(end.asMono(), Mono.delay(LONGEST).then()))
                .doOnSubscribe(begun -> open.incrementAndGet())
                .doFinally(ended -> open.decrementAndGet());
        return PageFiles.secured(ServerResponse.ok())
                .contentType(MediaType.TEXT_EVENT_STREAM)
                .header("X-Accel-Buffering", "no") // nginx would keep the events
                .body(events, ServerSentEvent.class);
    }

    /** Open pages must not delay the shutdown: the web server waits for responses that have begun. */
    @Override
    public void onApplicationEvent(ContextClosedEvent closed) {
        end.tryEmitEmpty();
    }
}

package io.fairgate.testkit.permit;

import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A work that runs until {@link #complete}, and counts its starts and cancellations. */
final class Work {

    final AtomicInteger started = new AtomicInteger();
    final AtomicInteger cancelled = new AtomicInteger();
    private final Sinks.Empty<Void> end = Sinks.empty();
    final Mono<Void> mono =
            end.asMono().doOnSubscribe(s -> started.incrementAndGet()).doOnCancel(cancelled::incrementAndGet);

    void complete() {
        end.tryEmitEmpty().orThrow();
    }
}

package io.fairgate.spring;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A pool whose decisions are not enforced. A request goes on at once, and leaves a claim in the pool that stands for it:
 * it waits as the request would have waited, holds what the request would have held until that ends, and is refused when the
 * request would have been. So the pool shows and counts what it would do, as far as it can while nobody is held back.
 */
final class PoolOnTrial {

    private PoolOnTrial() {}

    /**
     * The request, with a claim beside it.
     *
     * @param wouldEnd hears what would have ended the request
     */
    static Mono<Void> beside(PermitPool pool, PermitRequest claim, Mono<Void> request, Consumer<Throwable> wouldEnd) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> over = Sinks.empty();
            Disposable place = pool.withPermit(claim, over.asMono()).subscribe(nothing -> {}, wouldEnd);
            return request.doFinally(end -> {
                // Whichever it does: it holds permits, which this gives back, or it waits still, and leaves.
                over.tryEmitEmpty();
                place.dispose();
            });
        });
    }
}

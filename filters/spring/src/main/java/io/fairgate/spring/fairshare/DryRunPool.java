package io.fairgate.spring.fairshare;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A pool whose decisions are not enforced. The request is forwarded at once, and a second request in the pool, the
 * claim, stands for it: the claim waits as the request would have waited, holds permits until the request ends, and is
 * refused when the request would have been refused. So the state and the meters of the pool show what it would do, as
 * far as that is possible while no request is held back.
 */
final class DryRunPool {

    private DryRunPool() {}

    /**
     * Runs the request, with a claim beside it.
     *
     * @param refused gets the error that would have ended the request
     */
    static Mono<Void> beside(PermitPool pool, PermitRequest claim, Mono<Void> request, Consumer<Throwable> refused) {
        return Mono.defer(() -> {
            Sinks.Empty<Void> over = Sinks.empty();
            Disposable place = pool.withPermit(claim, over.asMono()).subscribe(nothing -> {}, refused);
            return request.doFinally(end -> {
                // Either the claim holds permits and gives them back, or it still waits and leaves the queue.
                over.tryEmitEmpty();
                place.dispose();
            });
        });
    }
}

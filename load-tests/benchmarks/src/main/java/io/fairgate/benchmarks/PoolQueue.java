package io.fairgate.benchmarks;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import java.time.Duration;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** The queue of a pool. */
final class PoolQueue implements WaitingQueue {

    private static final PermitRequest REQUEST = PermitRequest.of("acme").withEventLoop(Runnable::run);

    private static final Duration NEVER_REACHED = Duration.ofHours(1);

    private final PermitPool pool;
    private final Leaving[] waiters;

    PoolQueue(int places) {
        waiters = new Leaving[places];
        pool = new EmbeddedPermitPool(
                "orders",
                PoolSettings.ofPermits(1)
                        .withMaxWaiting(places)
                        .withMaxWait(NEVER_REACHED)
                        .withMaxHold(NEVER_REACHED),
                TenantShares.EQUAL);
        pool.withPermit(REQUEST, Mono.never()).subscribe(new Listening());
    }

    @Override
    public void join(int place) {
        waiters[place] = new Leaving();
        pool.withPermit(REQUEST, Mono.never()).subscribe(waiters[place]);
    }

    @Override
    public void leave(int place) {
        waiters[place].cancel();
    }

    private static final class Leaving extends BaseSubscriber<Object> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            requestUnbounded();
        }

        @Override
        protected void hookOnError(Throwable error) {
            throw new IllegalStateException("a benchmark expects no error", error);
        }
    }
}

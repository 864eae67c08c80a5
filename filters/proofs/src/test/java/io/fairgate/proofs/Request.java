package io.fairgate.proofs;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.HoldExpiredException;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * One request and its work, with as few steps of their own as possible.
 *
 * <p>The work ends when it has started and a thread has allowed its end. That has the same effect before and after the start,
 * which another thread may bring about later; a plain "end it now" would have to distinguish the two.
 */
final class Request implements CoreSubscriber<Integer> {

    private static final int STARTED = 1;
    private static final int MAY_END = 2;

    private final int number;
    private final Guard guard;
    private final AtomicBoolean asked = new AtomicBoolean();
    private final AtomicInteger signals = new AtomicInteger();
    private final AtomicInteger starts = new AtomicInteger();
    private final AtomicInteger steps = new AtomicInteger();

    private volatile boolean cancelled;
    private volatile boolean completed;
    private volatile @Nullable Throwable error;
    private volatile @Nullable Subscription subscription;
    /** Completes the work. */
    private volatile @Nullable Runnable complete;
    /** Fails the work. */
    private volatile @Nullable Runnable failing;

    Request(int number, Guard guard) {
        this.number = number;
        this.guard = guard;
    }

    // ---- operations of the threads ----

    /** Asks for a permit for the work. Only the first call of this and of {@link #takeOrAsk} has an effect. */
    void ask(PermitPool pool, PermitRequest request) {
        if (asked.compareAndSet(false, true)) {
            pool.withPermit(request, new Work()).subscribe(this);
        }
    }

    /** As {@link #ask}, but first tries to take a permit without waiting. */
    void takeOrAsk(PermitPool pool, PermitRequest request) {
        if (asked.compareAndSet(false, true)) {
            HeldPermits held = pool.tryAcquire(request);
            if (held == null) {
                pool.withPermit(request, new Work()).subscribe(this);
            } else {
                hold(held);
            }
        }
    }

    private void hold(HeldPermits held) {
        starts();
        complete = () -> {
            completed = true;
            held.release();
        };
        subscription = new Ending() {
            @Override
            public void cancel() {
                end();
                // Also if it has just been released: a second release must have no effect.
                held.release();
            }
        };
        step(STARTED);
    }

    /** Allows the work to end; it ends at once if it has started. */
    void mayEnd() {
        step(MAY_END);
    }

    /** Has no effect before the pool knows the request, nor after its answer. */
    void cancel() {
        Subscription known = subscription;
        if (known != null) {
            cancelled = true;
            known.cancel();
        }
    }

    /** Cancels as soon as the pool knows the request, for which another thread asks: a race that is rare otherwise. */
    void cancelOnceKnown() {
        while (subscription == null) {
            Thread.onSpinWait();
        }
        cancel();
    }

    /** Lets the work fail if it has started and not ended. */
    void fail() {
        Runnable failure = failing;
        if (failure != null && end()) {
            failure.run();
        }
    }

    private void step(int step) {
        int before = steps.getAndUpdate(done -> done | step);
        boolean last = before != (before | step) && (before | step) == (STARTED | MAY_END);
        Runnable complete = this.complete;
        if (last && complete != null && end()) {
            complete.run();
        }
    }

    private void starts() {
        starts.incrementAndGet();
        guard.starts(number);
    }

    /** Called before the permit is released; true for the thread that ends the request. */
    private boolean end() {
        return guard.ends(number);
    }

    // ---- the outcome ----

    boolean isRunning() {
        return guard.isRunning(number);
    }

    boolean hasEnded() {
        return starts.get() == 1 && !isRunning();
    }

    /** Refused, or cancelled before its grant. */
    boolean isNotServed() {
        return asked.get() && !isWaiting() && starts.get() == 0;
    }

    boolean isWaiting() {
        return asked.get() && !cancelled && !completed && error == null && starts.get() == 0;
    }

    String outcome() {
        if (!asked.get()) {
            return "not asked";
        } else if (isWaiting()) {
            return "waiting";
        } else if (error instanceof PermitRefusedException refused) {
            return refused.reason().label();
        } else if (error instanceof HoldExpiredException) {
            return "expired";
        } else if (error != null) {
            return "failed";
        }
        return completed || cancelled ? "over" : "running";
    }

    /** Requires what must hold after every order of the steps. */
    void requireConsistent() {
        require(signals.get() <= 1, "it was answered twice");
        require(starts.get() <= 1, "its work was started twice");
        require(!(error instanceof PermitRefusedException) || starts.get() == 0, "it was refused, and ran");
        require(!(error instanceof IllegalStateException), "it failed: " + error);
    }

    static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    // ---- signals of the pool ----

    @Override
    public void onSubscribe(Subscription subscription) {
        this.subscription = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Integer value) {}

    @Override
    public void onError(Throwable error) {
        signals.incrementAndGet();
        this.error = error;
    }

    @Override
    public void onComplete() {
        signals.incrementAndGet();
        completed = true;
    }

    /** The expected error of a work: no bug of the pool, even if it cannot be delivered. */
    static final class WorkFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        WorkFailed() {
            super("the work failed", null, false, false);
        }
    }

    /** A subscription without elements. */
    private abstract static class Ending implements Subscription {
        @Override
        public void request(long n) {}
    }

    private final class Work extends Mono<Integer> {
        @Override
        public void subscribe(CoreSubscriber<? super Integer> actual) {
            starts();
            complete = actual::onComplete;
            failing = () -> actual.onError(new WorkFailed());
            actual.onSubscribe(new Ending() {
                @Override
                public void cancel() {
                    end();
                }
            });
            step(STARTED);
        }
    }
}

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
 * One request and its work, with as few steps of their own as can be.
 *
 * <p>The work ends when it has started and somebody has said that it may. To say so is therefore the same before and after
 * the start, which may come late when another thread brings it about; a plain "end it now" would have to know which.
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
    /** What tells the pool that the work is complete. */
    private volatile @Nullable Runnable complete;
    /** What tells it that the work has failed. */
    private volatile @Nullable Runnable failing;

    Request(int number, Guard guard) {
        this.number = number;
        this.guard = guard;
    }

    // ---- what threads do to it ----

    /** Asks for a permit to be held until the work is over, the first time that anything is asked. */
    void ask(PermitPool pool, PermitRequest request) {
        if (asked.compareAndSet(false, true)) {
            pool.withPermit(request, new Work()).subscribe(this);
        }
    }

    /** As {@link #ask}, and takes what can be had without waiting first. */
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
                // Also when it has just been released, for that must make no difference.
                held.release();
            }
        };
        step(STARTED);
    }

    /** Says that the work may end; it does so at once if it has started. */
    void mayEnd() {
        step(MAY_END);
    }

    /** Has no effect before the request is known to the pool, nor after it was answered. */
    void cancel() {
        Subscription known = subscription;
        if (known != null) {
            cancelled = true;
            known.cancel();
        }
    }

    /** As soon as the request is known to the pool: for races that hardly ever meet otherwise. Another thread is asking. */
    void cancelOnceKnown() {
        while (subscription == null) {
            Thread.onSpinWait();
        }
        cancel();
    }

    /** The work fails, if it has started and not ended yet. */
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

    /** Before the permit goes back; true for who ends it. */
    private boolean end() {
        return guard.ends(number);
    }

    // ---- what became of it ----

    boolean isRunning() {
        return guard.isRunning(number);
    }

    boolean hasEnded() {
        return starts.get() == 1 && !isRunning();
    }

    /** Refused, or gone before its turn came. */
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

    /** What no order of steps excuses. */
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

    // ---- what the pool tells it ----

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

    /** Nothing is wrong with the pool then, also when nobody is left to be told of it. */
    static final class WorkFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        WorkFailed() {
            super("the work failed", null, false, false);
        }
    }

    /** A subscription to something that has nothing to give. */
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

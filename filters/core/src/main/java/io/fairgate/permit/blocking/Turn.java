package io.fairgate.permit.blocking;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.tenant.TenantId;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * One request of a thread. For the pool, the work is a {@code Mono} that lets the thread go on when it is subscribed to, and completes
 * when the thread releases the permits.
 */
final class Turn implements HeldPermits {

    /** The call in which a thread is. */
    private static final ThreadLocal<@Nullable Turn> CURRENT = new ThreadLocal<>();

    private final TenantId tenant;
    private final int permits;
    private final CountDownLatch decided = new CountDownLatch(1);
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final Sinks.Empty<Void> quiesced = Sinks.empty();

    private volatile boolean isReleased;
    private volatile boolean hasBegun;
    private @Nullable Turn outer;

    /** Guards the two fields below. A thread is interrupted only while this lock is held, and so never after it has ended its work. */
    private final ReentrantLock lock = new ReentrantLock();

    private @Nullable Worker worker;
    private @Nullable Throwable failure;

    Turn(PermitRequest request) {
        this.tenant = request.tenant();
        this.permits = request.permits();
    }

    /** The request as the pool gets it: after the end of the hold, its permits come back when this thread has ended its work. */
    PermitRequest quiescing(PermitRequest request) {
        Mono<Void> ofWork = quiesced.asMono();
        Mono<Void> ofCaller = request.quiesced();
        return request.withQuiesced(
                ofCaller == null ? ofWork : ofWork.then(Mono.defer(() -> hasBegun ? ofCaller : Mono.empty())));
    }

    /** Returns with the permits, or throws. What the pool signals only wakes the thread, so any thread may signal it. */
    void await(PermitPool pool, PermitRequest request) throws InterruptedException {
        Mono<Void> work = Mono.defer(() -> {
            decided.countDown();
            return end.asMono();
        });
        Disposable subscription =
                pool.withPermit(request.withEventLoop(Runnable::run), work).subscribe(nothing -> {}, this::failed);
        boolean isHeld = false;
        try {
            decided.await();
            throwIfFailed();
            isHeld = true;
        } finally {
            if (!isHeld) {
                quiesced.tryEmitEmpty(); // No work begins.
                subscription.dispose(); // Also if the permits have just come to a thread that is interrupted.
            }
        }
    }

    private void throwIfFailed() {
        Throwable why = failure();
        if (why != null) {
            throw Exceptions.propagate(why);
        }
    }

    /** The pool refuses the request, or takes the permits back because they are held for too long. */
    private void failed(Throwable why) {
        lock.lock();
        try {
            failure = why;
            if (worker != null) {
                worker.tell();
            }
        } finally {
            lock.unlock();
        }
        decided.countDown();
    }

    /** Calls the work on this thread, which has its permits. */
    <T> T call(Callable<T> work) throws Exception {
        T result;
        try {
            begin();
            result = work.call();
        } catch (Exception e) {
            throw withExpiry(e);
        } finally {
            finish();
        }
        throwIfFailed();
        return result;
    }

    /** What the work has thrown, or the end of the hold with that as the suppressed exception. */
    private Exception withExpiry(Exception thrown) {
        Throwable expired = failure();
        if (expired == null || expired == thrown) {
            return thrown;
        }
        expired.addSuppressed(thrown);
        return Exceptions.propagate(expired);
    }

    private void begin() {
        lock.lock();
        try {
            throwIfFailed();
            hasBegun = true;
            outer = CURRENT.get();
            worker = outer == null ? new Worker() : outer.worker;
            CURRENT.set(this);
        } finally {
            lock.unlock();
        }
    }

    /** Releases the permits. */
    private void finish() {
        if (hasBegun) {
            leave();
        }
        release();
        quiesced.tryEmitEmpty();
    }

    private void leave() {
        Worker told;
        lock.lock();
        try {
            told = failure == null ? null : worker;
            worker = null;
        } finally {
            lock.unlock();
        }
        if (outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(outer);
        }
        if (told != null) {
            told.ended(isOuterOver());
        }
    }

    private boolean isOuterOver() {
        for (Turn around = outer; around != null; around = around.outer) {
            if (around.failure() != null) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Throwable failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public TenantId tenant() {
        return tenant;
    }

    @Override
    public int permits() {
        return permits;
    }

    @Override
    public boolean isHeld() {
        return !isReleased && failure() == null;
    }

    @Override
    public void release() {
        isReleased = true;
        end.tryEmitEmpty();
    }
}

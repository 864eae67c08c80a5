package io.fairgate.client;

import io.fairgate.client.Answer.Told;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A lease that is held, with one loop that extends or restores it, one call after the other, and one timer for the moment
 * when it is lost.
 *
 * <pre>
 *   HELD ──not extended in time, or cannot be restored──▶ LOST
 *     └──released──▶ RELEASED
 * </pre>
 */
final class Hold {

    private enum State {
        HELD,
        LOST,
        RELEASED
    }

    /** A tenth (1/MARGIN) of its time, at most a second: for a clock slower than the server's, and for a work to end. */
    private static final int MARGIN = 10;

    private static final long LONGEST_MARGIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** It is extended after a third (1/BEAT) of its time, and one attempt takes at most as long. */
    private static final int BEAT = 3;

    /** After a failure: a twentieth (1/RETRY) of its time, or the server's {@code Retry-After}, up to a sixth. */
    private static final int RETRY = 20;

    private static final int LATEST_RETRY = 6;

    private final LeaseCalls calls;
    private final LeaseOptions options;
    private final String id;

    private final AtomicReference<State> state = new AtomicReference<>(State.HELD);
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final Disposable.Swap beats = Disposables.swap();
    private final Disposable.Swap timer = Disposables.swap();

    private volatile long token;
    /** On the clock of the calls, in nanoseconds. From this moment another holder may have the permits. */
    private volatile long lostAt;
    /** Set while a restore is under way: it would bring the lease back if the server read it after the release. */
    private volatile Sinks.@Nullable Empty<Void> restoring;

    private volatile @Nullable Throwable lastFailure;

    // Used only by the loop.
    private long ttlNanos;
    private long pauseNanos;
    private boolean isForgotten;
    /** The newest receipt; null when the server issues none, or has rejected it. */
    private @Nullable String receipt;

    Hold(LeaseCalls calls, LeaseOptions options, Told told, long sentAt) {
        this.calls = calls;
        this.options = options;
        this.id = told.id();
        set(told, sentAt);
    }

    String id() {
        return id;
    }

    LeaseOptions options() {
        return options;
    }

    long token() {
        return token;
    }

    boolean isHeld() {
        return isOpen() && calls.now() < lostAt;
    }

    boolean isLost() {
        return state.get() == State.LOST;
    }

    Mono<Void> end() {
        return end.asMono();
    }

    /** Extends the lease from now on; does nothing when it has ended meanwhile. */
    void start() {
        setTimer();
        beats.update(Mono.defer(() -> calls.pause(pauseNanos))
                .then(Mono.defer(this::beat))
                .repeat(this::isOpen)
                .subscribe());
    }

    /** Once subscribed, the lease is no longer held, whether or not the server can be reached. */
    Mono<Void> release() {
        return Mono.defer(() -> {
            stop();
            Sinks.Empty<Void> underWay = restoring;
            Mono<Void> release = calls.release(id);
            return underWay == null ? release : underWay.asMono().then(release);
        });
    }

    private void stop() {
        if (state.compareAndSet(State.HELD, State.RELEASED)) {
            timer.dispose();
            if (restoring == null) {
                beats.dispose();
            }
            end.tryEmitEmpty();
        }
    }

    private void lose(String why, @Nullable Throwable cause) {
        if (state.compareAndSet(State.HELD, State.LOST)) {
            timer.dispose();
            beats.dispose();
            end.tryEmitError(new LeaseLostException(id, why, cause));
        }
    }

    private boolean isOpen() {
        return state.get() == State.HELD;
    }

    // ---- the loop ----

    private Mono<Void> beat() {
        long sentAt = calls.now();
        Duration within = Duration.ofNanos(Math.min(ttlNanos / BEAT, LeaseCalls.ANSWER.toNanos()));
        Mono<Answer> call = isForgotten ? restore(within) : calls.extend(id, options, within);
        return call.doOnNext(answer -> heard(answer, sentAt))
                .doOnError(this::failed)
                .onErrorComplete()
                .then();
    }

    private Mono<Answer> restore(Duration within) {
        Sinks.Empty<Void> done = Sinks.empty();
        restoring = done;
        // A concurrent release either sees restoring, and waits for it, or is seen here, and then nothing is sent.
        Mono<Answer> call = isOpen() ? calls.restore(id, options, receipt, within) : Mono.empty();
        return call.doFinally(how -> {
            restoring = null;
            done.tryEmitEmpty();
        });
    }

    private void heard(Answer answer, long sentAt) {
        Told told = answer.lease();
        if (answer.status() == 200 && told != null && told.isHeld()) {
            isForgotten = false;
            extended(told, sentAt);
        } else if (!isForgotten && answer.is(404, "lease-expired")) {
            isForgotten = true;
            pauseNanos = 0;
        } else if (answer.status() < 300 && told != null) {
            failed(LeaseException.stillWaiting()); // An extension keeps its place, and shows when it is held again.
        } else if (isForgotten && receipt != null && isAboutReceipt(answer)) {
            receipt = null;
            pauseNanos = 0;
        } else if (isForgotten && (answer.status() == 404 || answer.status() == 409)) {
            lose("the server does not have it, and will not have it back", LeaseException.refused(answer));
        } else {
            failed(LeaseException.refused(answer));
            Duration later = answer.retryAfter();
            if (later != null) {
                pauseNanos = Math.max(pauseNanos, Math.min(later.toNanos(), ttlNanos / LATEST_RETRY));
            }
        }
    }

    /** The server rejects the receipt, for instance because its keys changed. It may still have permits for the lease. */
    private static boolean isAboutReceipt(Answer answer) {
        return answer.is(409, "receipt-invalid") || answer.is(409, "receipt-expired");
    }

    /** The failed call may have been a restore on which the server acted, so the next call is an extension. */
    private void failed(Throwable failure) {
        lastFailure = failure;
        isForgotten = false;
        pauseNanos = calls.pauses().spread(ttlNanos / RETRY);
    }

    /** After a pause of the program, an answer may arrive before a timer that is due. The lease is lost all the same. */
    private void extended(Told told, long sentAt) {
        if (calls.now() >= lostAt) {
            ring();
        } else if (isOpen()) {
            set(told, sentAt);
            setTimer();
        }
    }

    // ---- time ----

    private void set(Told told, long sentAt) {
        token = told.token();
        receipt = told.receipt();
        ttlNanos =
                Math.max(0, Math.min(told.expiresIn().toNanos(), options.ttl().toNanos()));
        lostAt = sentAt + ttlNanos - Math.min(ttlNanos / MARGIN, LONGEST_MARGIN_NANOS);
        pauseNanos = sentAt + ttlNanos / BEAT - calls.now();
    }

    private void setTimer() {
        timer.update(calls.time().schedule(this::ring, Math.max(1, lostAt - calls.now()), TimeUnit.NANOSECONDS));
    }

    private void ring() {
        if (calls.now() >= lostAt) {
            lose("it could not be extended in time", lastFailure);
        }
    }
}

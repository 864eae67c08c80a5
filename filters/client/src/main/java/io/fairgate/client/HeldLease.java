package io.fairgate.client;

import io.fairgate.client.ApiResponse.LeaseState;
import java.time.Duration;
import java.util.Map;
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
final class HeldLease implements Lease {

    private enum State {
        HELD,
        LOST,
        RELEASED
    }

    /** A tenth (1/MARGIN) of its time, at most a second: for a clock slower than the server's, and for a work to end. */
    private static final int MARGIN = 10;

    private static final long LONGEST_MARGIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** It is extended after a third (1/EXTEND) of its time, and one attempt takes at most as long. */
    private static final int EXTEND = 3;

    /** After a failure: a twentieth (1/RETRY) of its time, or the server's {@code Retry-After}, up to a sixth. */
    private static final int RETRY = 20;

    private static final int LATEST_RETRY = 6;

    private final LeaseApi api;
    private final LeaseOptions options;
    private final String id;

    private final AtomicReference<State> state = new AtomicReference<>(State.HELD);
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final Disposable.Swap loop = Disposables.swap();
    private final Disposable.Swap timer = Disposables.swap();

    private volatile long token;
    /** On the clock of the API, in nanoseconds. From this moment another holder may have the permits. */
    private volatile long lostAt;
    /** Set while a restore is under way: it would bring the lease back if the server read it after the release. */
    private volatile Sinks.@Nullable Empty<Void> restoring;

    private volatile @Nullable Throwable lastFailure;

    // Used only by the loop.
    private long ttlNanos;
    private long pauseNanos;
    private boolean isUnknownToServer;
    /** The newest receipt; null when the server issues none, or has rejected it. */
    private @Nullable String receipt;

    HeldLease(LeaseApi api, LeaseOptions options, LeaseState granted, long sentAt) {
        this.api = api;
        this.options = options;
        this.id = granted.id();
        update(granted, sentAt);
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public Map<String, Integer> pools() {
        return options.pools();
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public boolean isHeld() {
        return isOpen() && api.now() < lostAt;
    }

    boolean isLost() {
        return state.get() == State.LOST;
    }

    @Override
    public Mono<Void> lost() {
        return end.asMono();
    }

    /** Extends the lease from now on; does nothing when it has ended meanwhile. */
    void start() {
        setTimer();
        loop.update(Mono.defer(() -> api.pause(pauseNanos))
                .then(Mono.defer(this::extendOrRestore))
                .repeat(this::isOpen)
                .subscribe());
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            stop();
            Sinks.Empty<Void> underWay = restoring;
            Mono<Void> release = api.release(id);
            return underWay == null ? release : underWay.asMono().then(release);
        });
    }

    private void stop() {
        if (state.compareAndSet(State.HELD, State.RELEASED)) {
            timer.dispose();
            if (restoring == null) {
                loop.dispose();
            }
            end.tryEmitEmpty();
        }
    }

    private void lose(String why, @Nullable Throwable cause) {
        if (state.compareAndSet(State.HELD, State.LOST)) {
            timer.dispose();
            loop.dispose();
            end.tryEmitError(new LeaseLostException(id, why, cause));
        }
    }

    private boolean isOpen() {
        return state.get() == State.HELD;
    }

    // ---- the loop ----

    private Mono<Void> extendOrRestore() {
        long sentAt = api.now();
        Duration timeout = Duration.ofNanos(Math.min(ttlNanos / EXTEND, LeaseApi.TIMEOUT.toNanos()));
        Mono<ApiResponse> call = isUnknownToServer ? restore(timeout) : api.extend(id, options, timeout);
        return call.doOnNext(response -> answered(response, sentAt))
                .doOnError(this::failed)
                .onErrorComplete()
                .then();
    }

    private Mono<ApiResponse> restore(Duration timeout) {
        Sinks.Empty<Void> done = Sinks.empty();
        restoring = done;
        // A concurrent release either sees restoring, and waits for it, or is seen here, and then nothing is sent.
        Mono<ApiResponse> call = isOpen() ? api.restore(id, options, receipt, timeout) : Mono.empty();
        return call.doFinally(how -> {
            restoring = null;
            done.tryEmitEmpty();
        });
    }

    private void answered(ApiResponse response, long sentAt) {
        LeaseState reported = response.lease();
        if (response.status() == 200 && reported != null && reported.isHeld()) {
            isUnknownToServer = false;
            extended(reported, sentAt);
        } else if (!isUnknownToServer && response.is(404, "lease-expired")) {
            isUnknownToServer = true;
            pauseNanos = 0;
        } else if (response.status() < 300 && reported != null) {
            failed(LeaseException.stillWaiting()); // An extension keeps its place, and shows when it is held again.
        } else if (isUnknownToServer && receipt != null && isAboutReceipt(response)) {
            receipt = null;
            pauseNanos = 0;
        } else if (isUnknownToServer && (response.status() == 404 || response.status() == 409)) {
            lose("the server does not know it, and does not restore it", LeaseException.refused(response));
        } else {
            failed(LeaseException.refused(response));
            Duration later = response.retryAfter();
            if (later != null) {
                pauseNanos = Math.max(pauseNanos, Math.min(later.toNanos(), ttlNanos / LATEST_RETRY));
            }
        }
    }

    /** The server rejects the receipt, for instance because its keys changed. It may still have permits for the lease. */
    private static boolean isAboutReceipt(ApiResponse response) {
        return response.is(409, "receipt-invalid") || response.is(409, "receipt-expired");
    }

    /** The failed call may have been a restore on which the server acted, so the next call is an extension. */
    private void failed(Throwable failure) {
        lastFailure = failure;
        isUnknownToServer = false;
        pauseNanos = api.jittered(ttlNanos / RETRY);
    }

    /** After a pause of the program, a response may arrive before a timer that is due. The lease is lost all the same. */
    private void extended(LeaseState reported, long sentAt) {
        if (api.now() >= lostAt) {
            checkTime();
        } else if (isOpen()) {
            update(reported, sentAt);
            setTimer();
        }
    }

    // ---- time ----

    private void update(LeaseState reported, long sentAt) {
        token = reported.token();
        receipt = reported.receipt();
        ttlNanos = Math.max(
                0, Math.min(reported.expiresIn().toNanos(), options.ttl().toNanos()));
        lostAt = sentAt + ttlNanos - Math.min(ttlNanos / MARGIN, LONGEST_MARGIN_NANOS);
        pauseNanos = sentAt + ttlNanos / EXTEND - api.now();
    }

    private void setTimer() {
        timer.update(api.time.schedule(this::checkTime, Math.max(1, lostAt - api.now()), TimeUnit.NANOSECONDS));
    }

    private void checkTime() {
        if (api.now() >= lostAt) {
            lose("it could not be extended in time", lastFailure);
        }
    }
}

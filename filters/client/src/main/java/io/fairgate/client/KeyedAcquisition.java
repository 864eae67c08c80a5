package io.fairgate.client;

import io.fairgate.client.ApiResponse.LeaseState;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Acquires one lease, or gives up when the time is over. It knows at each moment what would have to be released: the lease; a
 * place in the queue under an id; or whatever may be open under the key, when calls were sent and not answered.
 *
 * <p>{@link #lease} and {@link #release} may run on different threads at the same time, because a caller that waits may
 * cancel at any moment. Each first writes its own step and then reads the other's, so one of them releases what was opened.
 */
final class KeyedAcquisition {

    /** The longest wait that the server allows in one call. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(30);

    /** A grant is not trusted when more than a third (1/LATE) of its time passed on the way. */
    private static final int LATE = 3;

    private final LeaseApi api;
    private final LeaseOptions options;

    private volatile String key;
    /** The server may have opened something under the key. */
    private volatile boolean mayBeOpen;

    private volatile @Nullable String id;
    private volatile @Nullable HeldLease lease;
    private volatile boolean isReleased;
    /** The server has confirmed the release, or all attempts of it have failed. */
    private volatile boolean isReleaseOver;

    // Used only by the calls, which follow one another.
    private long deadline;
    private long pauseNanos;
    private int failures;
    private boolean isGranted;

    KeyedAcquisition(LeaseApi api, LeaseOptions options) {
        this.api = api;
        this.key = api.newKey();
        this.options = options;
    }

    /** For one subscription. It has released when it errors; a subscriber that cancels must call {@link #release}. */
    Mono<Lease> lease() {
        return Mono.defer(() -> {
            deadline = api.now() + options.maxWait().toNanos();
            return Mono.defer(this::attempt)
                    .repeatWhenEmpty(times -> times.concatMap(n -> api.pause(pauseNanos)))
                    .publishOn(api.time)
                    .onErrorResume(e -> release().then(Mono.error(e)));
        });
    }

    /**
     * Never errors, and takes at most {@link LeaseApi#RELEASE_WITHIN} plus the time of a call that is under way. Does nothing
     * when it has completed before; when it was cancelled before, it starts again.
     */
    Mono<Void> release() {
        return Mono.<Void>defer(() -> {
                    isReleased = true;
                    if (isReleaseOver) {
                        return Mono.empty();
                    }
                    HeldLease held = lease;
                    if (held != null) {
                        // A lost lease is left to expire, so that the work that is ending keeps the margin.
                        return held.isLost() ? Mono.empty() : held.release();
                    }
                    String known = id;
                    if (known != null) {
                        return api.release(known);
                    }
                    return mayBeOpen ? api.release(options, key) : Mono.empty();
                })
                .onErrorComplete()
                .doOnSuccess(done -> isReleaseOver = true);
    }

    // ---- one attempt; empty when another must follow ----

    private record Attempt(long sentAt, Duration maxWait, boolean mightBeOpen) {}

    private Mono<Lease> attempt() {
        long sentAt = api.now();
        long left = isGranted ? 0 : Math.max(0, deadline - sentAt);
        Duration maxWait = Duration.ofMillis(
                Math.min(LONGEST_CALL.toMillis(), Duration.ofNanos(left).toMillis()));
        Attempt attempt = new Attempt(sentAt, maxWait, mayBeOpen);
        mayBeOpen = true;
        if (isReleased) {
            return Mono.never();
        }
        return api.acquire(options, key, maxWait, LeaseApi.TIMEOUT)
                .flatMap(response -> answered(response, attempt))
                .onErrorResume(IOException.class, e -> unanswered(e, attempt));
    }

    private Mono<Lease> answered(ApiResponse response, Attempt attempt) {
        LeaseState state = response.lease();
        if (response.status() < 300) {
            if (state == null) {
                return retry(null, LeaseException.unreachable(new IOException("the response contains no lease")));
            }
            id = state.id();
            failures = 0;
            return state.isHeld() ? granted(state, attempt) : waiting(attempt);
        }
        // A key cannot be used again after a refusal. But an earlier call may have opened something under it; then the
        // key is kept until the server says that this has ended.
        boolean isRefusal = response.problem() != null && (response.status() == 429 || response.status() == 503);
        boolean hasEnded = attempt.mightBeOpen() && response.is(409, "lease-ended");
        if (hasEnded || (isRefusal && !attempt.mightBeOpen())) {
            startAnew();
        } else if (!response.isTemporary()) {
            mayBeOpen = attempt.mightBeOpen();
        }
        boolean isFinal = !response.isTemporary() && !hasEnded;
        return isFinal
                ? Mono.error(LeaseException.refused(response))
                : retry(response.retryAfter(), LeaseException.refused(response));
    }

    /** Nothing is open under the old key, and nothing will be. */
    private void startAnew() {
        id = null;
        mayBeOpen = false;
        isGranted = false;
        key = api.newKey();
    }

    private Mono<Lease> unanswered(IOException failure, Attempt attempt) {
        if (failure instanceof ConnectException || failure instanceof UnknownHostException) {
            mayBeOpen = attempt.mightBeOpen();
        }
        return retry(null, LeaseException.unreachable(failure));
    }

    /** Errors when the time is over before the next attempt. */
    private Mono<Lease> retry(@Nullable Duration retryAfter, LeaseException why) {
        failures++;
        pauseNanos = retryAfter == null ? api.backoffNanos(failures) : api.jittered(retryAfter.toNanos());
        return api.now() + pauseNanos < deadline ? Mono.empty() : Mono.error(why);
    }

    private Mono<Lease> waiting(Attempt attempt) {
        long now = api.now();
        long left = deadline - now;
        if (left < Duration.ofMillis(1).toNanos()) {
            return Mono.error(LeaseException.stillWaiting());
        }
        // When the server answers earlier than it had to, the next call waits, so that calls have a pause in between.
        boolean isEarly = now - attempt.sentAt() < attempt.maxWait().toNanos() / 2;
        pauseNanos = isEarly ? Math.min(left, api.backoffNanos(1)) : 0;
        return Mono.empty();
    }

    /**
     * Counted from the sending of a call that waited for long, the lease may be over already. So the call is repeated; the
     * second one need not wait, and its response shows how much time the lease has.
     */
    private Mono<Lease> granted(LeaseState state, Attempt attempt) {
        long now = api.now();
        long late = state.expiresIn().toNanos() / LATE;
        if (attempt.maxWait().toMillis() > 0 && now - attempt.sentAt() > late) {
            isGranted = true;
            deadline = Math.max(deadline, now + late);
            pauseNanos = 0;
            return Mono.empty();
        }
        HeldLease granted = new HeldLease(api, options, state, attempt.sentAt());
        if (!granted.isHeld()) {
            return retry(
                    null, LeaseException.unreachable(new IOException("the response came after the lease had expired")));
        }
        lease = granted;
        if (isReleased) {
            return Mono.never();
        }
        granted.start();
        return Mono.just(granted);
    }
}

package io.fairgate.client;

import io.fairgate.client.Answer.Told;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Acquires one lease, or gives up when the time is over. It knows at each moment what would have to be given back: the
 * lease; a place in the queue under an id; or whatever may be open under the key, when calls were sent and not answered.
 *
 * <p>{@link #acquire} and {@link #giveBack} may run on different threads at the same time, because a caller that waits may
 * cancel at any moment. Each first writes its own step and then reads the other's, so one of them gives back what was opened.
 */
final class Claim {

    /** The longest wait that the server allows in one call. */
    private static final Duration LONGEST_CALL = Duration.ofSeconds(30);

    /** A grant is not trusted when more than a third (1/LATE) of its time passed on the way. */
    private static final int LATE = 3;

    private final LeaseCalls calls;
    private final LeaseOptions options;

    private volatile String key;
    /** The server may have opened something under the key. */
    private volatile boolean inDoubt;

    private volatile @Nullable String id;
    private volatile @Nullable Lease lease;
    private volatile boolean isGivenBack;
    /** The server has confirmed it, or all attempts to tell the server have failed. */
    private volatile boolean isSettled;

    // Used only by the calls, which follow one another.
    private long deadline;
    private long pauseNanos;
    private int failures;
    private boolean isGranted;

    Claim(LeaseCalls calls, LeaseOptions options) {
        this.calls = calls;
        this.key = calls.newKey();
        this.options = options;
    }

    /** For one subscription. It has given back when it errors; a subscriber that cancels must call {@link #giveBack}. */
    Mono<Lease> acquire() {
        return Mono.defer(() -> {
            deadline = calls.now() + options.maxWait().toNanos();
            return Mono.defer(this::ask)
                    .repeatWhenEmpty(times -> times.concatMap(n -> calls.pause(pauseNanos)))
                    .onErrorResume(e -> giveBack().then(Mono.error(e)))
                    .publishOn(calls.time());
        });
    }

    /**
     * Never errors, and takes at most {@link LeaseCalls#GIVE_BACK} plus the time of a call that is under way. Does nothing
     * when it has completed before; when it was cancelled before, it starts again.
     */
    Mono<Void> giveBack() {
        return Mono.<Void>defer(() -> {
                    isGivenBack = true;
                    if (isSettled) {
                        return Mono.empty();
                    }
                    Lease held = lease;
                    if (held != null) {
                        // A lost lease is left to expire, so that the work that is ending keeps the margin.
                        return held.isLost() ? Mono.empty() : held.release();
                    }
                    String known = id;
                    if (known != null) {
                        return calls.release(known);
                    }
                    return inDoubt ? calls.release(options, key) : Mono.empty();
                })
                .onErrorComplete()
                .doOnSuccess(done -> isSettled = true);
    }

    // ---- one call; empty when another call must follow ----

    private Mono<Lease> ask() {
        long sentAt = calls.now();
        long left = isGranted ? 0 : Math.max(0, deadline - sentAt);
        Duration patience = Duration.ofMillis(
                Math.min(LONGEST_CALL.toMillis(), Duration.ofNanos(left).toMillis()));
        boolean wasInDoubt = inDoubt;
        inDoubt = true;
        if (isGivenBack) {
            return Mono.never();
        }
        return calls.acquire(options, key, patience)
                .flatMap(answer -> answered(answer, new Asked(sentAt, patience, wasInDoubt)))
                .onErrorResume(IOException.class, e -> noAnswer(e, wasInDoubt));
    }

    private record Asked(long sentAt, Duration patience, boolean wasInDoubt) {}

    private Mono<Lease> answered(Answer answer, Asked asked) {
        Told told = answer.lease();
        if (answer.status() < 300) {
            if (told == null) {
                return later(null, LeaseException.unreachable(new IOException("an answer that is no lease")));
            }
            id = told.id();
            failures = 0;
            return told.isHeld() ? granted(told, asked) : waiting(asked);
        }
        // A key cannot be used again after a refusal. But an earlier call may have opened something under it; then the
        // key
        // is kept until the server says that this has ended.
        boolean isRefusal = answer.problem() != null && (answer.status() == 429 || answer.status() == 503);
        boolean hasEnded = asked.wasInDoubt() && answer.is(409, "lease-ended");
        if (hasEnded || (isRefusal && !asked.wasInDoubt())) {
            startAnew();
        } else if (!answer.isForNow()) {
            inDoubt = asked.wasInDoubt();
        }
        boolean isFinal = !answer.isForNow() && !hasEnded;
        return isFinal
                ? Mono.error(LeaseException.refused(answer))
                : later(answer.retryAfter(), LeaseException.refused(answer));
    }

    /** Nothing is open under the old key, and nothing will be. */
    private void startAnew() {
        id = null;
        inDoubt = false;
        isGranted = false;
        key = calls.newKey();
    }

    private Mono<Lease> noAnswer(IOException failure, boolean wasInDoubt) {
        if (failure instanceof ConnectException || failure instanceof UnknownHostException) {
            inDoubt = wasInDoubt;
        }
        return later(null, LeaseException.unreachable(failure));
    }

    private Mono<Lease> later(@Nullable Duration retryAfter, LeaseException why) {
        failures++;
        pauseNanos = retryAfter == null
                ? calls.pauses().afterFailures(failures)
                : calls.pauses().spread(retryAfter.toNanos());
        return calls.now() + pauseNanos < deadline ? Mono.empty() : Mono.error(why);
    }

    private Mono<Lease> waiting(Asked asked) {
        long now = calls.now();
        long left = deadline - now;
        if (left < Duration.ofMillis(1).toNanos()) {
            return Mono.error(LeaseException.stillWaiting());
        }
        // When the server answers earlier than it had to, the next call waits, so that calls do not follow without a
        // pause.
        boolean isEarly = now - asked.sentAt() < asked.patience().toNanos() / 2;
        pauseNanos = isEarly ? Math.min(left, calls.pauses().afterFailures(1)) : 0;
        return Mono.empty();
    }

    /**
     * Counted from the sending of a call that waited for long, the lease may be over already. So the call is repeated; the
     * second one need not wait, and its answer shows how much time the lease has.
     */
    private Mono<Lease> granted(Told told, Asked asked) {
        long now = calls.now();
        long beat = told.expiresIn().toNanos() / LATE;
        if (asked.patience().toMillis() > 0 && now - asked.sentAt() > beat) {
            isGranted = true;
            deadline = Math.max(deadline, now + beat);
            pauseNanos = 0;
            return Mono.empty();
        }
        Hold hold = new Hold(calls, options, told, asked.sentAt());
        if (!hold.isHeld()) {
            return later(null, LeaseException.unreachable(new IOException("the answer came when the lease was over")));
        }
        Lease granted = new Lease(hold);
        lease = granted;
        if (isGivenBack) {
            return Mono.never();
        }
        hold.start();
        return Mono.just(granted);
    }
}

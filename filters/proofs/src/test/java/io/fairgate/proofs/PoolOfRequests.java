package io.fairgate.proofs;

import static io.fairgate.proofs.Request.require;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.proofs.Request.WorkFailed;
import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Sinks;

/**
 * A pool and a few numbered requests, driven step by step from outside.
 */
final class PoolOfRequests {

    /** The number of requests. */
    static final int REQUESTS = 4;

    /** Drains without a wait until the pool opens its fast path, less the few drains of a test. */
    private static final int NEARLY_CALM = 62;

    /** The longest hold, in seconds, of requests 0 and 2 in a timed pool. */
    private static final int HOLD = 5;
    /** The second at which every bounded wait and hold is over. */
    private static final int LATE = 1_000;

    private static final TenantId TENANT = TenantId.of("a");

    /** An error that the pool could not deliver, which is a bug. */
    private static volatile @Nullable Throwable dropped;

    static {
        Hooks.onErrorDropped(error -> {
            if (!(error instanceof WorkFailed)) {
                dropped = error;
            }
        });
    }

    private final TimersByHand timers = new TimersByHand();
    private final AtomicBoolean closed = new AtomicBoolean();
    private final @Nullable Heard heard;
    private final boolean holdsEnd;
    private final AtomicInteger passed = new AtomicInteger();
    private final Guard guard;
    private final EmbeddedPermitPool pool;
    private final Request[] requests = new Request[REQUESTS];
    private final PermitRequest[] permitRequests = new PermitRequest[REQUESTS];
    private final Sinks.Empty<Void> quiesced = Sinks.empty();
    private final WaitForHandle waitForHandle = new WaitForHandle();
    private volatile int permits;
    private volatile boolean closing;

    private PoolOfRequests(int permits, int most, @Nullable Heard heard, boolean holdsEnd) {
        this.permits = permits;
        this.heard = heard;
        this.holdsEnd = holdsEnd;
        guard = new Guard(most);
        pool = new EmbeddedPermitPool(
                "proof", settings(permits), TenantShares.EQUAL, timers, heard == null ? PoolListener.NONE : heard);
        for (int i = 0; i < REQUESTS; i++) {
            requests[i] = new Request(i, guard);
            permitRequests[i] = permitRequest(i);
        }
    }

    /**
     * A pool whose fast path is open, because no request has ever waited.
     *
     * @param most the largest size that the pool will have
     */
    static PoolOfRequests open(int permits, int most) {
        return new PoolOfRequests(permits, most, null, false);
    }

    /** The same with a listener, which must get each event once. */
    static PoolOfRequests heard(int permits) {
        return new PoolOfRequests(permits, permits, new Heard(), false);
    }

    /** The same with bounded holds of requests 0 and 2. */
    static PoolOfRequests timed(int permits) {
        return new PoolOfRequests(permits, permits, new Heard(), true);
    }

    /** A pool whose fast path is about to open again: the last wait was long ago. */
    static PoolOfRequests nearlyCalm(int permits, int most) {
        return calmed(open(permits, most));
    }

    /** The same with a listener, and with bounded holds of requests 0 and 2. */
    static PoolOfRequests nearlyCalmAndTimed(int permits) {
        PoolOfRequests calming = calmed(timed(permits));
        Objects.requireNonNull(calming.heard).forget();
        calming.passed.set(0);
        return calming;
    }

    private static PoolOfRequests calmed(PoolOfRequests calming) {
        int permits = calming.permits;
        List<HeldPermits> all = calming.takeAll();
        Request waits = new Request(0, new Guard(0));
        waits.ask(calming.pool, PermitRequest.of(TENANT).withMaxWait(Duration.ofSeconds(waitSeconds(0))));
        waits.cancel();
        all.forEach(HeldPermits::release);
        for (int drains = permits; drains < NEARLY_CALM; drains += 2) {
            calming.pass();
        }
        return calming;
    }

    private static PoolSettings settings(int permits) {
        return new PoolSettings(permits, REQUESTS, Duration.ofDays(1), PoolSettings.MAX_DURATION);
    }

    // ---- operations of the threads ----

    /** Request 2 starts on its own executor. Requests with odd numbers first try to take a permit without waiting. */
    void acquire(int request) {
        if (request % 2 == 0) {
            requests[request].ask(pool, permitRequests[request]);
        } else {
            requests[request].takeOrAsk(pool, permitRequests[request]);
        }
    }

    private PermitRequest permitRequest(int request) {
        PermitRequest timed = PermitRequest.of(TENANT)
                .withMaxWait(Duration.ofSeconds(waitSeconds(request)))
                .withMaxHold(holdsEnd && request % 2 == 0 ? Duration.ofSeconds(HOLD) : PoolSettings.MAX_DURATION);
        return request == 2 ? timed.withEventLoop(Runnable::run) : timed;
    }

    /** Different for each request, and longer than any hold. */
    private static int waitSeconds(int request) {
        return 10 + request;
    }

    void release(int request) {
        requests[request].mayEnd();
    }

    void cancel(int request) {
        requests[request].cancel();
    }

    void cancelOnceKnown(int request) {
        requests[request].cancelOnceKnown();
    }

    void fail(int request) {
        requests[request].fail();
    }

    void timeOut(int request) {
        timers.advanceTo(waitSeconds(request));
    }

    /** Ends every bounded hold that started at the beginning. */
    void expire() {
        timers.advanceTo(HOLD);
    }

    /** Acquires for request 0, whose cancelled work takes a moment to end. */
    void acquireToQuiesce() {
        requests[0].ask(pool, permitRequests[0].withQuiesced(quiesced.asMono()));
    }

    void quiesce() {
        quiesced.tryEmitEmpty();
    }

    void quiesceTimeUp() {
        timers.advanceTo(PermitRequest.QUIESCE_WITHIN.toSeconds());
    }

    /** Takes a permit that belongs to no request. */
    HeldPermits held() {
        return Objects.requireNonNull(take(), "a permit is free");
    }

    void acquireHandle() {
        pool.acquire(permitRequests[REQUESTS - 1]).subscribe(waitForHandle);
    }

    void cancelHandle() {
        waitForHandle.cancel();
    }

    /** Takes a permit if one is free, and releases it at once: for all others nothing changes. */
    void pass() {
        HeldPermits held = take();
        if (held != null) {
            guard.passes();
            guard.hasPassed();
            held.release();
            passed.incrementAndGet();
        }
    }

    void resize(int permits) {
        this.permits = permits;
        pool.reconfigure(settings(permits), TenantShares.EQUAL).subscribe();
    }

    void close() {
        closing = true;
        pool.close(Duration.ZERO).subscribe(nothing -> {}, e -> {}, () -> closed.set(true));
    }

    // ---- the outcome, when all threads have ended ----

    /** The state of every request and of the pool, or what is broken. Ends all requests. */
    String outcome() {
        try {
            String outcome = whatBecameOfAll();
            requireTimeEndsIt();
            requireNothingLeft();
            return outcome;
        } catch (IllegalStateException e) {
            return "broken: " + e.getMessage();
        }
    }

    /**
     * The same, after a long time. The time passes first, because a question to the pool makes it look at everything, and
     * would set a timer that was forgotten.
     */
    String outcomeWhenLate() {
        try {
            requireNoRequestForgotten();
            requireTimeEndsIt();
        } catch (IllegalStateException e) {
            return "broken: " + e.getMessage();
        }
        return outcome();
    }

    private void requireNoRequestForgotten() {
        boolean waits = Arrays.stream(requests).anyMatch(Request::isWaiting);
        long running = Arrays.stream(requests).filter(Request::isRunning).count();
        require(!waits || running >= permits, "a request waits while a permit is free");
    }

    private String whatBecameOfAll() {
        requireConsistent();
        StringBuilder outcome = new StringBuilder(waitForHandle.isHeld() ? "handle, " : "");
        for (Request request : requests) {
            outcome.append(request.outcome()).append(", ");
        }
        if (closed.get()) {
            outcome.append("closed, ");
        }
        return outcome.append(status().inFlight()).append(" in flight").toString();
    }

    /** Requires what must hold after every order of the steps. */
    private void requireConsistent() {
        require(!guard.sawTooMany(), "more ran at once than there were permits");
        require(dropped == null, "the pool dropped an error: " + dropped);
        int waiting = 0;
        int running = 0;
        int ended = 0;
        int notServed = 0;
        for (int i = 0; i < REQUESTS; i++) {
            requests[i].requireConsistent();
            waiting += requests[i].isWaiting() ? 1 : 0;
            running += requests[i].isRunning() ? 1 : 0;
            ended += requests[i].hasEnded() ? 1 : 0;
            notServed += requests[i].isNotServed() ? 1 : 0;
        }
        if (heard != null) {
            require(heard.released() == ended + passed.get(), "a release was reported twice, or not at all");
            require(heard.notServed() == notServed, "a refusal or a cancellation was reported twice, or not at all");
        }
        PoolStatus status = status();
        running += waitForHandle.isHeld() ? 1 : 0;
        require(status.inFlight() == running, "the pool has a wrong number of permits in flight");
        require(
                status.tenants().stream().mapToInt(TenantStatus::inFlight).sum() == running,
                "the tenants have a wrong number of permits in flight");
        require(status.waiting() == waiting, "the pool has a wrong number of waiting requests");
        require(waiting == 0 || running >= permits, "a request waits while a permit is free");
    }

    private void requireTimeEndsIt() {
        timers.advanceTo(LATE);
        // Again, for requests that were granted just now.
        timers.advanceTo(2 * LATE);
        for (Request request : requests) {
            require(!request.isWaiting(), "a request waits for ever");
        }
        boolean running = requests[0].isRunning() || requests[2].isRunning();
        require(!holdsEnd || !running, "a bounded hold does not end");
    }

    private void requireNothingLeft() {
        for (Request request : requests) {
            request.mayEnd();
            request.cancel();
        }
        waitForHandle.release();
        PoolStatus status = status();
        require(status.inFlight() == 0 && status.waiting() == 0, "the pool is not empty");
        require(closed.get() == closing, "the close did not complete, or completed without being asked for");
        List<HeldPermits> all = takeAll();
        require(all.size() == (closing ? 0 : permits), "permits were lost or gained");
        all.forEach(HeldPermits::release);
        pool.close(Duration.ZERO).subscribe();
        require(!timers.isAnySet(), "a timer was left");
    }

    private List<HeldPermits> takeAll() {
        List<HeldPermits> all = new ArrayList<>();
        for (HeldPermits held = take(); held != null; held = take()) {
            all.add(held);
        }
        return all;
    }

    private @Nullable HeldPermits take() {
        return pool.tryAcquire(permitRequests[0]);
    }

    private PoolStatus status() {
        PoolStatus[] status = new PoolStatus[1];
        pool.snapshot().subscribe(now -> status[0] = now);
        return Objects.requireNonNull(status[0], "no other thread is in the pool");
    }

    /** Keeps the handle that it is given, also after its cancellation: a handle that was given must be released. */
    private static final class WaitForHandle extends BaseSubscriber<HeldPermits> {

        private volatile @Nullable HeldPermits held;

        boolean isHeld() {
            HeldPermits held = this.held;
            return held != null && held.isHeld();
        }

        void release() {
            HeldPermits held = this.held;
            if (held != null) {
                held.release();
            }
        }

        @Override
        protected void hookOnNext(HeldPermits value) {
            held = value;
        }
    }
}

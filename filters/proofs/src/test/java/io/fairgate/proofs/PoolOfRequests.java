package io.fairgate.proofs;

import static io.fairgate.proofs.Request.require;

import io.fairgate.fairness.PoolStatus;
import io.fairgate.fairness.PoolStatus.TenantStatus;
import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.proofs.Request.WorkFailed;
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
 * A pool, and a few requests that are known by their number, all of it driven from outside, step by step.
 */
final class PoolOfRequests {

    /** Requests that there can be. */
    static final int REQUESTS = 4;

    /** Drains for which nobody waits until the pool opens, less the few that a test then does. */
    private static final int NEARLY_CALM = 62;

    /** Seconds that the works of numbers 0 and 2 may take, where holds end. */
    private static final int HOLD = 5;
    /** By then everything is over that has an end. */
    private static final int LATE = 1_000;

    private static final TenantId TENANT = TenantId.of("a");

    /** What the pool could tell nobody: errors of its own, that is bugs. */
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
    private final Sinks.Empty<Void> settled = Sinks.empty();
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
     * A pool whose permits lie open: nobody has ever waited.
     *
     * @param most permits that it will ever have
     */
    static PoolOfRequests open(int permits, int most) {
        return new PoolOfRequests(permits, most, null, false);
    }

    /** The same, and somebody listens, who must hear of each once. */
    static PoolOfRequests heard(int permits) {
        return new PoolOfRequests(permits, permits, new Heard(), false);
    }

    /** The same, and the holds of numbers 0 and 2 end. */
    static PoolOfRequests timed(int permits) {
        return new PoolOfRequests(permits, permits, new Heard(), true);
    }

    /** A pool in which somebody had to wait, so long ago that its permits are about to lie open again. */
    static PoolOfRequests nearlyCalm(int permits, int most) {
        return calmed(open(permits, most));
    }

    /** The same, and somebody listens, and the holds of numbers 0 and 2 end. */
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

    // ---- what threads do ----

    /** Number 2 has a home of its own, on which it starts; those with an odd number take what can be had at once first. */
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
        return request == 2 ? timed.withHome(Runnable::run) : timed;
    }

    /** Different ones, and longer than all else lasts. */
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

    /** Every hold is over that has an end and started at the beginning. */
    void expire() {
        timers.advanceTo(HOLD);
    }

    /** Asks for number 0, whose work takes a moment to end when it is cut short. */
    void acquireToSettle() {
        requests[0].ask(pool, permitRequests[0].withSettled(settled.asMono()));
    }

    void settle() {
        settled.tryEmitEmpty();
    }

    void settleTimeUp() {
        timers.advanceTo(PermitRequest.SETTLE_WITHIN.toSeconds());
    }

    /** A permit that belongs to no request. */
    HeldPermits held() {
        return Objects.requireNonNull(take(), "a permit is free");
    }

    void acquireHandle() {
        pool.acquire(permitRequests[REQUESTS - 1]).subscribe(waitForHandle);
    }

    void cancelHandle() {
        waitForHandle.cancel();
    }

    /** Takes a permit if there is one, and gives it back at once: to everybody else as if nothing had been. */
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

    // ---- what came of it, once all threads have left ----

    /** What has become of every request and of the pool, or what is broken. Ends them all. */
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
     * The same, long after. To ask the pool what is in flight has it look at everything, and a timer that was forgotten is
     * set then: so time goes by before.
     */
    String outcomeWhenLate() {
        try {
            requireNobodyForgotten();
            requireTimeEndsIt();
        } catch (IllegalStateException e) {
            return "broken: " + e.getMessage();
        }
        return outcome();
    }

    private void requireNobodyForgotten() {
        boolean waits = Arrays.stream(requests).anyMatch(Request::isWaiting);
        long running = Arrays.stream(requests).filter(Request::isRunning).count();
        require(!waits || running >= permits, "somebody waits while a permit is free");
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

    /** What holds whatever order the steps came in. */
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
            require(heard.released() == ended + passed.get(), "a release was told twice, or not at all");
            require(heard.notServed() == notServed, "that somebody left was told twice, or not at all");
        }
        PoolStatus status = status();
        running += waitForHandle.isHeld() ? 1 : 0;
        require(status.inFlight() == running, "the pool counts other permits in flight than there are");
        require(
                status.tenants().stream().mapToInt(TenantStatus::inFlight).sum() == running,
                "the tenants hold other permits than there are in flight");
        require(status.waiting() == waiting, "the pool counts others waiting than there are");
        require(waiting == 0 || running >= permits, "somebody waits while a permit is free");
    }

    private void requireTimeEndsIt() {
        timers.advanceTo(LATE);
        // Who got a permit just now.
        timers.advanceTo(2 * LATE);
        for (Request request : requests) {
            require(!request.isWaiting(), "somebody waits for ever");
        }
        boolean running = requests[0].isRunning() || requests[2].isRunning();
        require(!holdsEnd || !running, "a work runs for ever");
    }

    private void requireNothingLeft() {
        for (Request request : requests) {
            request.mayEnd();
            request.cancel();
        }
        waitForHandle.release();
        PoolStatus status = status();
        require(status.inFlight() == 0 && status.waiting() == 0, "something was left in the pool");
        require(closed.get() == closing, "closing has to complete, and does so only when asked for");
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
        return Objects.requireNonNull(status[0], "nobody else is at work in the pool");
    }

    /** Takes what it is given, whether or not it has left meanwhile: what it was given is its own to release. */
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

package io.fairgate.permit.embedded;

import io.fairgate.fairness.AskedPermits;
import io.fairgate.fairness.FairScheduler;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.RefusalReason;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/**
 * Has one thread at a time change the {@link RequestQueue}, which is therefore plain single-threaded code. Each change (a new
 * request, a cancellation, a release) is a command of the {@link CommandLoop}: a {@link Waiter} to look at, or a
 * {@link Runnable}. After each round of commands the queue decides, and what it has decided goes to the {@link Dispatcher}.
 */
final class Drain implements CommandLoop.Handler {

    /** The most requests, in addition to {@code max-waiting}, that may be submitted and not yet seen by the drain. */
    private static final int MOST_SUBMITTED = 10_000;

    private final EmbeddedPermitPool pool;
    private final Dispatcher dispatcher;
    private final Deadlines deadlines;
    private final RequestQueue queue;
    private final CommandLoop commands;
    /** Requests that were submitted and that the drain has not seen. Bounded: threads can submit faster than it works. */
    private final AtomicInteger submitted = new AtomicInteger();

    private final Sinks.Empty<Void> closed = Sinks.empty();

    volatile PoolSettings settings;
    /** The timer that ends all waits while the pool is being closed; only for the thread that drains. */
    private Disposable patience = Disposables.disposed();

    Drain(EmbeddedPermitPool pool, PoolSettings settings, FairScheduler scheduler, FastPath fastPath) {
        this.pool = pool;
        this.settings = settings;
        this.dispatcher = new Dispatcher(pool.time);
        this.deadlines = new Deadlines(pool.time, () -> submit(this::timerRang));
        this.queue = new RequestQueue(scheduler, fastPath, pool.slice, deadlines, dispatcher);
        this.commands = new CommandLoop(Queues.unboundedMultiproducer().get(), this, pool.time);
    }

    /**
     * Submits a new request.
     *
     * @param now the time, or {@link EmbeddedPermitPool#UNKNOWN}
     * @return false when too many requests were submitted that the drain has not seen; this one was not submitted then
     */
    boolean submit(Waiter waiter, long now) {
        if (submitted.incrementAndGet() > (long) settings.maxWaiting() + MOST_SUBMITTED) {
            submitted.decrementAndGet();
            return false;
        }
        waiter.isSubmitted = true;
        commands.submit(waiter, now);
        return true;
    }

    /** Looks at the waiter, because its state has changed. */
    void look(Waiter waiter) {
        commands.submit(waiter, EmbeddedPermitPool.UNKNOWN);
    }

    private void submit(Runnable command) {
        commands.submit(command, EmbeddedPermitPool.UNKNOWN);
    }

    void restore(Waiter waiter) {
        submit(() -> queue.restore(waiter));
    }

    /**
     * Makes sure that the hold of a slot ends in time. When the timer rings, the drain finds the waiters that are still in
     * their slots. If this one is no longer there, or the timer does not ring by then, it needs a command.
     */
    void watchHold(Waiter waiter) {
        if (!pool.fastPath.has(waiter) || waiter.holdUntil() < deadlines.ringsAt()) {
            submit(() -> queue.watchHold(waiter));
        }
    }

    <T> Mono<T> answer(Supplier<T> question) {
        return command(sink -> {
            T answer = question.get();
            return () -> sink.success(answer);
        });
    }

    /** Executes a command that returns its answer to the caller. The caller also gets its error, such as that of a calculator. */
    private <T> Mono<T> command(Function<MonoSink<T>, Runnable> command) {
        return Mono.create(sink -> submit(() -> {
            Runnable answer;
            try {
                answer = command.apply(sink);
            } catch (RuntimeException | Error e) {
                answer = () -> sink.error(e);
            }
            dispatcher.add(answer);
        }));
    }

    /** Emits the answer to a question that gets the time, after the scheduler has granted and counted all that it can. */
    <T> Mono<T> answerAfterAll(LongFunction<T> question) {
        return answer(() -> {
            // First grants what can be granted, or the answer would show free permits beside waiting requests.
            queue.decide(settings.maxWaiting());
            queue.countSlots();
            return question.apply(queue.now);
        });
    }

    /** Emits the end when the new settings are in force. */
    Mono<Void> reconfigure(PoolSettings settings, TenantShares shares) {
        return command(sink -> {
            queue.reconfigure(settings, shares);
            this.settings = settings;
            return sink::success;
        });
    }

    // ---- the slice of this process ----

    void share(Runnable changed) {
        submit(() -> {
            queue.limit(0, 0);
            pool.slice.tell(() -> dispatcher.add(changed));
        });
    }

    void sliceEndsAt(long time) {
        boolean isEarlier = time < pool.slice.endsAt();
        pool.slice.endsAt(time);
        if (isEarlier) {
            submit(() -> {}); // It may have ended, or the timer rings too late for those that wait.
        }
    }

    Mono<Integer> limit(int most, int leased) {
        return answer(() -> queue.limit(most, leased));
    }

    Mono<Void> weigh(Map<TenantId, Double> tenants, Map<String, Double> groups) {
        return command(sink -> {
            queue.weigh(tenants, groups);
            return sink::success;
        });
    }

    Mono<AskedPermits> asked() {
        return answer(queue::asked);
    }

    Mono<Void> close(Duration patience) {
        submit(() -> {
            queue.close();
            this.patience.dispose();
            Runnable refuseAll = () -> submit(() -> queue.refuseBeyond(0, RefusalReason.DRAINING));
            this.patience = pool.time.schedule(refuseAll, patience.toNanos(), TimeUnit.NANOSECONDS);
        });
        return closed.asMono();
    }

    // ---- one thread at a time ----

    @Override
    public void beginRound(long now) {
        queue.now = now == EmbeddedPermitPool.UNKNOWN ? pool.now() : now;
    }

    @Override
    public void execute(Object command) {
        if (command instanceof Waiter waiter) {
            if (waiter.isSubmitted) {
                waiter.isSubmitted = false;
                submitted.decrementAndGet();
            }
            queue.reconcile(waiter);
        } else {
            ((Runnable) command).run();
        }
    }

    @Override
    public void endRound() {
        queue.decide(settings.maxWaiting());
        if (queue.isClosed()) {
            patience.dispose();
            deadlines.stopTimer();
            dispatcher.add(closed::tryEmitEmpty);
        }
    }

    @Override
    public void leave() {
        dispatcher.dispatch();
    }

    private void timerRang() {
        deadlines.rang();
        queue.endHoldsOfSlots();
    }
}

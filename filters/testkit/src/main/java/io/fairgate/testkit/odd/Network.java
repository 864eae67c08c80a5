package io.fairgate.testkit.odd;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The connection between a client and its backend. Each message takes one tick, and messages arrive in their order. */
public final class Network {

    private final Scheduler.Worker thread;
    private final Duration tick;
    /** What ends each call that has no answer yet, when the connection is lost. */
    private final Set<Runnable> unanswered = ConcurrentHashMap.newKeySet();
    /** Messages that arrive when the connection is there again. Guarded by itself. */
    private final Queue<Runnable> kept = new ArrayDeque<>();

    private volatile boolean isLost;

    public Network(Scheduler time, Duration tick) {
        this.thread = time.createWorker();
        this.tick = tick;
    }

    /** Loses the connection: calls without an answer fail. */
    public void lose() {
        isLost = true;
        unanswered.forEach(Runnable::run);
    }

    public void regain() {
        synchronized (kept) {
            isLost = false;
            kept.forEach(this::send);
            kept.clear();
        }
    }

    boolean isLost() {
        return isLost;
    }

    /** The cause of an error of a lost connection. */
    static IOException cut() {
        return new IOException("connection reset");
    }

    /** Has {@code fail} run when the connection is lost before {@link #answered}. */
    void ask(Runnable fail) {
        unanswered.add(fail);
    }

    void answered(Runnable fail) {
        unanswered.remove(fail);
    }

    void send(Runnable message) {
        var unused = thread.schedule(message, tick.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Sends a message that must not be lost. */
    void deliver(Runnable message) {
        synchronized (kept) {
            if (isLost) {
                kept.add(message);
            } else {
                send(message);
            }
        }
    }

    /** A call that reaches the backend a tick later, and whose answer arrives another tick later. */
    <T> Mono<T> call(Mono<T> call, Function<Throwable, RuntimeException> whenLost) {
        return Mono.create(sink -> {
            Runnable fail = () -> sink.error(whenLost.apply(cut()));
            ask(fail);
            sink.onDispose(() -> answered(fail));
            send(() -> {
                if (isLost) {
                    fail.run();
                } else {
                    call.subscribe(
                            value -> send(() -> sink.success(value)),
                            error -> send(() -> sink.error(error)),
                            () -> send(sink::success));
                }
            });
        });
    }

    /** A call that is kept while the connection is lost. */
    Mono<Void> delivered(Mono<Void> call) {
        return Mono.create(sink -> deliver(() ->
                call.subscribe(nothing -> {}, error -> send(() -> sink.error(error)), () -> send(sink::success))));
    }
}

package io.fairgate.redis.slice;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * What a node hears between two heartbeats, and what it tells: that permits are free, and that a node lacks permits which others have. Heartbeats
 * would tell all of it, up to 0.1 s later. On the worker of the node only.
 */
final class Hints {

    /** For each node that shares the pool: all of them may look when permits become free. */
    private static final Duration LEAST_BETWEEN_LOOKS = Duration.ofMillis(5);

    /** For each node that shares the pool: each call costs a heartbeat of all of them. */
    private static final Duration LEAST_BETWEEN_CALLS = Duration.ofMillis(50);

    /** Shares are sums of fractions. */
    private static final double ROUNDING = 1e-6;

    private final SliceLedger ledger;
    private final Consumer<Runnable> worker;
    private final LongSupplier clock;
    private final Disposable.Composite listening = Disposables.composite();

    /** Whether the next heartbeat is to ask if this node is the next one to get what has become free. */
    private boolean isToLook;

    private boolean isLooking;
    private long lookedAt;
    /** How many permits this node lacked when it called last, or fewer if it has lacked fewer since. */
    private double toldLack;

    private long calledAt;

    /**
     * @param worker executes tasks on the worker of the node
     * @param clock in nanoseconds
     */
    Hints(SliceLedger ledger, Consumer<Runnable> worker, LongSupplier clock) {
        this.ledger = ledger;
        this.worker = worker;
        this.clock = clock;
        this.lookedAt = clock.getAsLong();
        this.calledAt = lookedAt;
    }

    /**
     * Listens until the {@link #end}. Both run on the worker.
     *
     * @param onFree when permits may be free
     * @param onCall when a node lacks permits
     */
    void listen(Runnable onFree, Runnable onCall) {
        listening.add(ledger.onFreePermits(onWorker(onFree)));
        listening.add(ledger.onCall(onWorker(onCall)));
    }

    /** Hints that come before the worker has executed one say the same. */
    private Runnable onWorker(Runnable task) {
        AtomicBoolean waits = new AtomicBoolean();
        return () -> {
            if (waits.compareAndSet(false, true)) {
                worker.accept(() -> {
                    waits.set(false);
                    task.run();
                });
            }
        };
    }

    /** For any thread. */
    void end() {
        listening.dispose();
    }

    /** Whether the node may ask, with its next heartbeat, if it should have what has become free. Not each time: other nodes ask as well. */
    boolean look(int nodes) {
        if (clock.getAsLong() - lookedAt > nodes * LEAST_BETWEEN_LOOKS.toNanos()) {
            lookedAt = clock.getAsLong();
            isToLook = true;
        }
        return isToLook;
    }

    /** A heartbeat begins. */
    void beat() {
        isLooking = isToLook;
        isToLook = false;
    }

    /** Whether the present heartbeat asks. */
    boolean isLooking() {
        return isLooking;
    }

    /**
     * Calls the other nodes when this one begins to lack a whole permit at least, or twice as many as it has told. If it has called a moment before, it
     * calls later. What it lacks for longer, they have heard of.
     */
    void lacks(double permits, int nodes) {
        toldLack = Math.min(toldLack, Math.max(0, permits));
        boolean isNew = permits >= Math.max(1, 2 * toldLack) - ROUNDING;
        if (isNew && clock.getAsLong() - calledAt > nodes * LEAST_BETWEEN_CALLS.toNanos()) {
            toldLack = permits;
            calledAt = clock.getAsLong();
            ledger.callNodes().subscribe(called -> {}, failed -> {});
        }
    }
}

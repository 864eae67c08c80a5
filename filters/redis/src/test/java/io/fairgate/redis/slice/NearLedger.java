package io.fairgate.redis.slice;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The model of the ledger, and a network in which a message takes the same time each way, or is lost while it is cut. */
final class NearLedger implements SliceLedger {

    private static final long MILLI = 1_000_000;

    LedgerState state = new LedgerState();
    boolean isLost;
    String server = "redis";
    private final SliceKernel kernel = new SliceKernel(SliceTerm.USUAL, 700, Set.of());
    private final List<Runnable> listeners = new ArrayList<>();
    private final List<Runnable> callListeners = new ArrayList<>();
    private final Scheduler time;
    Duration oneWay;

    NearLedger(Scheduler time, Duration oneWay) {
        this.time = time;
        this.oneWay = oneWay;
    }

    int listeners() {
        return listeners.size();
    }

    private void later(Runnable action) {
        var unused = time.createWorker().schedule(action, oneWay.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
        return call(() -> kernel.heartbeat(state, beat, wall(), server));
    }

    private long wall() {
        return time.now(TimeUnit.NANOSECONDS) / MILLI;
    }

    private <T> Mono<T> call(Supplier<T> script) {
        return Mono.create(sink -> later(() -> {
            if (isLost) {
                sink.error(new IOException("connection reset"));
                return;
            }
            int before = state.used();
            T answer = script.get();
            if (state.used() < before) {
                List.copyOf(listeners).forEach(this::later);
            }
            later(() -> sink.success(answer));
        }));
    }

    @Override
    public Mono<Boolean> extend(String lease, long ttlMillis) {
        return call(() -> kernel.extend(state, lease, 0, ttlMillis, LedgerVersion.NONE, wall(), server))
                .map(isHeld -> SliceScripts.isHeld(isHeld, state.isRecovering()));
    }

    @Override
    public Mono<Void> release(String lease) {
        return call(() -> kernel.release(state, lease, 0, LedgerVersion.NONE, wall(), server))
                .then();
    }

    @Override
    public Mono<Void> callNodes() {
        return Mono.fromRunnable(() -> later(() -> List.copyOf(callListeners).forEach(this::later)));
    }

    @Override
    public Disposable onCall(Runnable listener) {
        callListeners.add(listener);
        return () -> callListeners.remove(listener);
    }

    @Override
    public Disposable onFreePermits(Runnable listener) {
        listeners.add(listener);
        return () -> listeners.remove(listener);
    }
}

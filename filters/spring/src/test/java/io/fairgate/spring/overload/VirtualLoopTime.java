package io.fairgate.spring.overload;

import io.netty.channel.EventLoop;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Event loops are as late as a test says. */
final class VirtualLoopTime implements LoopTime {

    private final AtomicLong now = new AtomicLong(Duration.ofHours(1).toNanos());
    private final Map<EventLoop, Runnable> tasks = new ConcurrentHashMap<>();

    @Override
    public long nanos() {
        return now.get();
    }

    @Override
    public void schedule(EventLoop loop, Runnable task, long nanos) {
        tasks.put(loop, task);
    }

    /** Measures all loops once, and each is this late. */
    void measure(Duration lag) {
        now.addAndGet(MeasuredLoop.PERIOD + lag.toNanos());
        List.copyOf(tasks.values()).forEach(Runnable::run);
    }

    /** Measures one loop once, and it is this late. The others hang meanwhile. */
    void measure(EventLoop loop, Duration lag) {
        now.addAndGet(MeasuredLoop.PERIOD + lag.toNanos());
        Objects.requireNonNull(tasks.get(loop)).run();
    }
}

package io.fairgate.spring.overload;

import io.netty.channel.EventLoop;
import java.util.concurrent.TimeUnit;

/** The time by which event loops are measured. Tests have another one. */
interface LoopTime {

    long nanos();

    /** Runs a task on the loop, after the time. */
    void schedule(EventLoop loop, Runnable task, long nanos);

    /** The time of the machine. */
    final class Real implements LoopTime {

        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void schedule(EventLoop loop, Runnable task, long nanos) {
            if (!loop.isShuttingDown()) {
                var unused = loop.schedule(task, nanos, TimeUnit.NANOSECONDS);
            }
        }
    }
}

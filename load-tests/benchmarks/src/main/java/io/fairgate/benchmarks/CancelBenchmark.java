package io.fairgate.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Cancels requests anywhere in the long queue of one tenant. New requests take their places outside the measured time.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CancelBenchmark {

    static final int BATCH = 50;

    /** Coprime to the numbers of waiters, so that each waiter is cancelled once, and not right after its neighbour. */
    private static final long STRIDE = 61_803;

    @Param({"100", "100000"})
    public int waiters = 100;

    /** Many short queues use as much memory as one long queue. */
    @Param("1")
    public int queues = 1;

    @Param({"scheduler", "pool"})
    public String kind = "scheduler";

    private WaitingQueue[] waiting = {};
    private int left;
    private int place;
    private int freePlace;

    @Setup
    public void fill() {
        waiting = IntStream.range(0, queues)
                .mapToObj(i -> "scheduler".equals(kind) ? new SchedulerQueue(waiters) : new PoolQueue(waiters))
                .toArray(WaitingQueue[]::new);
        for (int i = 0; i < waiters * queues; i++) {
            join(i);
        }
    }

    @Setup(Level.Invocation)
    public void fillAgain() {
        for (; left > 0; left--) {
            freePlace = after(freePlace);
            join(freePlace);
        }
    }

    @Benchmark
    public int cancel() {
        for (; left < BATCH; left++) {
            place = after(place);
            leave(place);
        }
        return place;
    }

    private int after(int place) {
        return (int) ((place + STRIDE) % ((long) waiters * queues));
    }

    private void join(int place) {
        waiting[place % queues].join(place / queues);
    }

    private void leave(int place) {
        waiting[place % queues].leave(place / queues);
    }
}

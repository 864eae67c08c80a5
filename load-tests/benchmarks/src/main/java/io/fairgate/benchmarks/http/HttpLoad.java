package io.fairgate.benchmarks.http;

import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A closed loop: each of {@value #CONNECTIONS} connections starts the next work when the last one is done. */
final class HttpLoad {

    static final int CONNECTIONS = 16;

    /** Work that is repeated. */
    interface Work {

        /** Does it once; the number is unique within the thread. */
        void once(Connection connection, int thread, long number) throws IOException;
    }

    /**
     * How often the work was done, and its cost.
     *
     * @param used processor time of the measured process
     * @param ownUsed processor time of this process, which does the same for each work
     */
    record Result(long done, Duration used, Duration ownUsed) {

        double perSecond() {
            return done / (used.toNanos() / 1e9);
        }

        double nanosEach() {
            return used.toNanos() / (double) done;
        }

        double ownNanosEach() {
            return ownUsed.toNanos() / (double) done;
        }
    }

    private final int port;
    private final Work work;
    private long round;

    HttpLoad(int port, Work work) {
        this.port = port;
        this.work = work;
    }

    /** Works for this time. Work that has begun is finished, and counted. */
    Result run(MeasuredProcess measured, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        return run(measured, (thread, number) -> System.nanoTime() - end < 0);
    }

    /** Works this many times on each connection. */
    Result times(MeasuredProcess measured, int times) {
        return run(measured, (thread, number) -> number < times);
    }

    private interface Going {
        boolean on(int thread, long number);
    }

    private Result run(MeasuredProcess measured, Going going) {
        long from = round++ << 32;
        long[] done = new long[CONNECTIONS];
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Duration before = measured.used();
        Duration ownBefore = ownUsed();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            int me = i;
            Thread thread = new Thread(
                    () -> {
                        try (Connection connection = new Connection(port)) {
                            while (failure.get() == null && going.on(me, done[me])) {
                                work.once(connection, me, from + done[me]);
                                done[me]++;
                            }
                        } catch (IOException | RuntimeException e) {
                            failure.compareAndSet(null, e);
                        }
                    },
                    "load-" + i);
            threads.add(thread);
            thread.start();
        }
        threads.forEach(HttpLoad::join);
        Duration used = measured.used().minus(before);
        Duration ownUsed = ownUsed().minus(ownBefore);
        Throwable failed = failure.get();
        if (failed != null) {
            throw new IllegalStateException("the load ended early", failed);
        }
        return new Result(Arrays.stream(done).sum(), used, ownUsed);
    }

    private static Duration ownUsed() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow();
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}

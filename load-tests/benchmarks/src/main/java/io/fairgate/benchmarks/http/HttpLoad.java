package io.fairgate.benchmarks.http;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A closed loop: as many connections, each of which does the next thing when the last one is done. */
final class HttpLoad {

    static final int CONNECTIONS = 16;

    /** Something that is done again and again. */
    interface Work {

        /** Does it once; the number is unlike any other of the same thread. */
        void once(Connection connection, int thread, long number) throws IOException;
    }

    /**
     * How often it was done.
     *
     * @param used processor time that the measured process needed for it
     * @param ownUsed processor time that this process needed for it, which is the same work each time
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

    /** For that long; what was begun is finished, and counted. */
    Result run(MeasuredProcess measured, Duration time) {
        long end = System.nanoTime() + time.toNanos();
        return run(measured, (thread, number) -> System.nanoTime() - end < 0);
    }

    /** So many times on each connection. */
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

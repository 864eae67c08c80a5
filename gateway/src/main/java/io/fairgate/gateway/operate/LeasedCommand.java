package io.fairgate.gateway.operate;

import io.fairgate.client.Lease;
import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseException;
import io.fairgate.client.LeaseOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A command of the system that runs while a lease is held. The permits come back when it has ended, with all processes that it has started.
 * A signal to this process ends the wait for the lease, or the command, before this process ends.
 */
final class LeasedCommand {

    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Duration LOOK = Duration.ofMillis(50);
    /** How long this process waits for its last call to be sent, when a signal ends it while it waits. */
    private static final Duration GIVES_BACK = Duration.ofSeconds(1);

    private final LeaseClient client;
    private final LeaseOptions options;
    private final List<String> words;
    private final AtomicBoolean isLost = new AtomicBoolean();
    private volatile boolean isStopping;
    private volatile @Nullable Process process;
    private volatile @Nullable Lease lease;

    /** The command cannot be run. */
    static final class NotStartedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotStartedException(String message) {
            super(message);
        }
    }

    /** The lease was lost, and the command has been ended. */
    static final class LostException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    LeasedCommand(LeaseClient client, LeaseOptions options, List<String> words) {
        this.client = client;
        this.options = options;
        this.words = List.copyOf(words);
    }

    /**
     * Waits for the lease, runs the command and releases the lease. Blocks.
     *
     * @return the exit code of the command
     */
    int run() throws InterruptedException {
        CompletableFuture<Lease> acquired = client.acquire(options).toFuture();
        Thread atSignal = new Thread(() -> stop(acquired));
        Runtime.getRuntime().addShutdownHook(atSignal);
        try {
            Lease held = acquired.get();
            lease = held;
            return run(held);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e);
        } catch (CancellationException e) {
            return 1; // A signal ends this process.
        } finally {
            remove(atSignal);
        }
    }

    private static void remove(Thread atSignal) {
        try {
            Runtime.getRuntime().removeShutdownHook(atSignal);
        } catch (IllegalStateException e) {
            // It runs: a signal ends this process.
        }
    }

    private int run(Lease held) throws InterruptedException {
        try {
            Process started = start(held);
            process = started;
            if (isStopping) {
                end(started);
            }
            Thread ending = new Thread(() -> endAfterLoss(started), "fairgate-lease-lost");
            var watch = held.lost().subscribe(none -> {}, lost -> {
                isLost.set(true);
                ending.start();
            });
            int exit = started.waitFor();
            watch.dispose();
            if (isLost.get()) {
                ending.join();
                throw new LostException();
            }
            return exit;
        } finally {
            release(held);
        }
    }

    private Process start(Lease held) {
        ProcessBuilder builder = new ProcessBuilder(words).inheritIO();
        builder.environment().put("FAIRGATE_LEASE", held.id());
        builder.environment().put("FAIRGATE_TOKEN", String.format(Locale.ROOT, "%d", held.token()));
        try {
            return builder.start();
        } catch (IOException e) {
            throw new NotStartedException("%s: cannot be run: %s".formatted(words.get(0), e.getMessage()));
        }
    }

    private void stop(CompletableFuture<Lease> acquired) {
        isStopping = true;
        acquired.cancel(false);
        Process started = process;
        Lease held = lease;
        try {
            if (started != null) {
                end(started);
            }
            if (held != null) {
                release(held);
            } else {
                Thread.sleep(GIVES_BACK.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void endAfterLoss(Process command) {
        try {
            end(command);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the command with all that it has started: with SIGTERM, and with SIGKILL what is left after a grace time. */
    private static void end(Process command) throws InterruptedException {
        List<ProcessHandle> all = Stream.concat(command.descendants(), Stream.of(command.toHandle()))
                .toList();
        all.forEach(ProcessHandle::destroy);
        long until = System.nanoTime() + GRACE.toNanos();
        while (all.stream().anyMatch(ProcessHandle::isAlive) && System.nanoTime() < until) {
            TimeUnit.MILLISECONDS.sleep(LOOK.toMillis());
        }
        all.forEach(ProcessHandle::destroyForcibly);
    }

    /** If it cannot be released, it expires. */
    private static void release(Lease held) {
        try {
            held.release().block();
        } catch (LeaseException e) {
            System.err.println("the lease could not be released, and expires: " + e.getMessage());
        }
    }
}

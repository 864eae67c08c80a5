package io.fairgate.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Polls a policy file on a thread of its own and reports when it has changed: it was rewritten, another file was moved
 * over it, a symbolic link in its path points elsewhere now (as when Kubernetes replaces a ConfigMap), or it is gone.
 *
 * <p>It polls instead of using the file notifications of the operating system. Those report the folder of the link
 * only: neither changes where the link leads to, nor changes that another machine makes on a shared file system.
 *
 * <p>A change is reported when two polls in a row have found the same file: none is read while it is being written.
 */
public final class PolicyWatcher implements AutoCloseable {

    private final Path file;
    private final Runnable changed;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread watcher = new Thread(task, "fairgate-policy-watcher");
        watcher.setDaemon(true);
        return watcher;
    });

    // The fields below are used by the watcher's thread only.
    private @Nullable FileState latest;
    private @Nullable FileState reported;

    /**
     * What one poll finds. Two are equal when the file has not changed in between.
     *
     * @param target the path after all symbolic links are resolved
     * @param key the identity of the file in its file system; null when the file system has none
     * @param contents their checksum, because some file systems store modification times in steps of two seconds; what
     *     went wrong where they cannot be read, which the listener will find out as well
     */
    private record FileState(Path target, @Nullable Object key, FileTime modified, Object contents) {

        static FileState of(Path file) {
            try (InputStream in = Files.newInputStream(file)) {
                Path target = file.toRealPath();
                BasicFileAttributes attributes = Files.readAttributes(target, BasicFileAttributes.class);
                CRC32C checksum = new CRC32C();
                checksum.update(in.readNBytes(PolicyReader.MAX_BYTES + 1));
                return new FileState(target, attributes.fileKey(), attributes.lastModifiedTime(), checksum.getValue());
            } catch (IOException e) {
                return new FileState(Path.of(""), null, FileTime.fromMillis(0), e.toString());
            }
        }
    }

    private PolicyWatcher(Path file, Runnable changed) {
        this.file = file;
        this.changed = changed;
    }

    /**
     * Starts to watch, until {@link #close}. The state that the first polls find is reported as well, because the file
     * may have changed since the caller read it.
     *
     * @param every the time between two polls, more than 0
     * @param changed run on the watcher's thread, where it may block; what it throws goes to the uncaught exception
     *     handler of that thread and does not end the watch
     */
    public static PolicyWatcher start(Path file, Duration every, Runnable changed) {
        PolicyWatcher watcher = new PolicyWatcher(file, changed);
        long nanos = every.toNanos();
        var unused = watcher.thread.scheduleWithFixedDelay(watcher::poll, nanos, nanos, TimeUnit.NANOSECONDS);
        return watcher;
    }

    /** Catches what the listener throws, because it would end the scheduled polls without a trace. */
    private void poll() {
        try {
            FileState now = FileState.of(file);
            boolean isSettled = now.equals(latest);
            latest = now;
            if (isSettled && !now.equals(reported)) {
                reported = now;
                changed.run();
            }
        } catch (RuntimeException | Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}

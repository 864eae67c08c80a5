package io.fairgate.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Polls a policy file on a thread of its own and reports when it has changed: it was rewritten, another file was moved
 * over it, a symbolic link in its path points elsewhere now (Kubernetes replaces all files of a ConfigMap at once in
 * this way), or it is gone.
 *
 * <p>It polls instead of using the file notifications of the operating system. Those report the folder of the link
 * only: neither changes where the link leads to, nor changes that another machine makes on a shared file system.
 *
 * <p>A change is reported when two polls in a row have found the same file, so that a file is not read while it is
 * being written.
 */
public final class PolicyWatcher implements AutoCloseable {

    /**
     * Some file systems store modification times in steps of up to two seconds. A second change within one step may not
     * change the modification time.
     */
    private static final Duration COARSEST_STEP = Duration.ofSeconds(2);

    private final Path file;
    private final Runnable changed;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread watcher = new Thread(task, "fairgate-policy-watcher");
        watcher.setDaemon(true);
        return watcher;
    });

    // The fields below are used by the watcher's thread only.
    private @Nullable Look latest;
    /** The state of the file that was reported last. */
    private @Nullable Look told;

    private byte[] toldContents = {};

    /**
     * What one poll finds. Two are equal when the file has not changed in between.
     *
     * @param target the path after all symbolic links are resolved
     * @param key the identity of the file in its file system; null when the file system has none
     */
    private record Look(Path target, @Nullable Object key, long size, FileTime modified) {

        /**
         * The file is missing, or its link is being replaced. The modification time is long past, so that no unnoticed
         * change is suspected.
         */
        static final Look GONE = new Look(Path.of(""), null, 0, FileTime.fromMillis(0));

        static Look at(Path file) {
            try {
                Path target = file.toRealPath();
                BasicFileAttributes attributes = Files.readAttributes(target, BasicFileAttributes.class);
                return new Look(target, attributes.fileKey(), attributes.size(), attributes.lastModifiedTime());
            } catch (IOException e) {
                return GONE;
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
        var unused = watcher.thread.scheduleWithFixedDelay(watcher::look, nanos, nanos, TimeUnit.NANOSECONDS);
        return watcher;
    }

    /** Catches what a poll throws, because it would end the scheduled polls without a trace. */
    private void look() {
        try {
            lookOnce();
        } catch (RuntimeException | Error e) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
        }
    }

    private void lookOnce() {
        Look now = Look.at(file);
        boolean settled = now.equals(latest);
        latest = now;
        if (!settled) {
            return;
        }
        boolean looksTheSame = now.equals(told);
        if (looksTheSame && !mayHaveChangedUnseen(now)) {
            return;
        }
        byte[] contents = contents();
        if (looksTheSame && Arrays.equals(contents, toldContents)) {
            return;
        }
        told = now;
        toldContents = contents;
        changed.run();
    }

    /** The digest of the contents; empty when the file cannot be read, which the listener will find out as well. */
    private byte[] contents() {
        try (InputStream in = Files.newInputStream(file)) {
            return MessageDigest.getInstance("SHA-256").digest(in.readNBytes(PolicyReader.MAX_BYTES + 1));
        } catch (IOException e) {
            return new byte[0];
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java platform has it
        }
    }

    private static boolean mayHaveChangedUnseen(Look look) {
        long age = System.currentTimeMillis() - look.modified().toMillis();
        return age >= 0 && age < 2 * COARSEST_STEP.toMillis();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}

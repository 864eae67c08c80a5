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
 * Looks at a policy file from time to time, on a thread of its own, and tells when it has become another one: written
 * anew, replaced by a file that was moved over it, or reached by a symbolic link that points elsewhere now, as
 * Kubernetes does with all files of a ConfigMap at once. It tells as well when the file is gone.
 *
 * <p>It looks instead of asking the operating system to be told, because that would tell of the folder that the link
 * is in, and neither of where it leads to nor of what happens on a file system of another machine.
 *
 * <p>A file is told of when it has stayed the same from one look to the next, so that none is read while it is being
 * written.
 */
public final class PolicyWatcher implements AutoCloseable {

    /**
     * Some file systems count the time of a change in steps of up to two seconds: within these, a second change may look
     * like none.
     */
    private static final Duration COARSEST_STEP = Duration.ofSeconds(2);

    private final Path file;
    private final Runnable changed;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread watcher = new Thread(task, "fairgate-policy-watcher");
        watcher.setDaemon(true);
        return watcher;
    });

    // Below: only the thread.
    private @Nullable Look latest;
    /** What the file was when it was told of last. */
    private @Nullable Look told;

    private byte[] toldContents = {};

    /**
     * What a look finds; two are equal when the file has not changed in between.
     *
     * @param target where the path leads, through every symbolic link
     * @param key what the file system knows the file by, if it tells
     */
    private record Look(Path target, @Nullable Object key, long size, FileTime modified) {

        /** There is no file: it is gone, or between two links. It was last changed long ago, like any that stays. */
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
     * Watches from now on, until it is closed. What it finds first is told as well: whoever watches has read the file
     * before, and it may have changed since.
     *
     * @param every how often to look, more than 0
     * @param changed run on the watcher's thread, which may block; what it throws is for it to tell, and does not end
     *     the watch
     */
    public static PolicyWatcher start(Path file, Duration every, Runnable changed) {
        PolicyWatcher watcher = new PolicyWatcher(file, changed);
        long nanos = every.toNanos();
        var unused = watcher.thread.scheduleWithFixedDelay(watcher::look, nanos, nanos, TimeUnit.NANOSECONDS);
        return watcher;
    }

    /** What throws would end the looks for good, and nobody would notice. */
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

    /** A digest of it; of nothing when it cannot be read, which whoever is told will find out as well. */
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

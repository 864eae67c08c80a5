package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which changes of a file are noticed: each test waits for what is told, and takes as long as that takes. */
class PolicyWatcherTest {

    private static final Duration EVERY = Duration.ofMillis(5);

    private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    private Path file = Path.of("fairgate.yml");
    private PolicyWatcher watcher = PolicyWatcher.start(file, Duration.ofDays(1), () -> {});

    @BeforeEach
    void place(@TempDir Path folder) {
        file = folder.resolve("fairgate.yml");
    }

    @AfterEach
    void close() {
        watcher.close();
    }

    private void watch() throws InterruptedException {
        watcher.close();
        watcher = PolicyWatcher.start(file, EVERY, this::tell);
    }

    private void tell() {
        try {
            told.add(Files.readString(file));
        } catch (IOException e) {
            told.add(e.toString());
        }
    }

    private void awaitTold(String contents) throws InterruptedException {
        assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo(contents);
    }

    /** In one step, and never empty in between. */
    private void writeOver(String contents) throws IOException {
        try (ByteChannel in = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
            in.write(ByteBuffer.wrap(contents.getBytes(StandardCharsets.UTF_8)));
        }
    }

    @Test
    void the_first_look_reports_the_file_because_it_may_have_changed_since_it_was_read() throws Exception {
        Files.writeString(file, "one");
        watch();
        awaitTold("one");
    }

    @Test
    void a_file_that_is_written_anew_is_told() throws Exception {
        Files.writeString(file, "one");
        watch();
        awaitTold("one");
        writeOver("two");
        awaitTold("two");
    }

    @Test
    void a_file_that_is_moved_over_it_is_told_though_it_has_the_same_size_and_time() throws Exception {
        FileTime longAgo = FileTime.fromMillis(1_000_000_000_000L);
        Files.writeString(file, "one");
        Files.setLastModifiedTime(file, longAgo);
        watch();
        awaitTold("one");
        Path next = file.resolveSibling("next");
        Files.writeString(next, "two");
        Files.setLastModifiedTime(next, longAgo);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        awaitTold("two");
    }

    @Test
    void a_link_that_leads_elsewhere_is_told_as_when_a_config_map_changes() throws Exception {
        Path folder = Objects.requireNonNull(file.getParent());
        Path first = Files.createDirectory(folder.resolve("..2026_1"));
        Path second = Files.createDirectory(folder.resolve("..2026_2"));
        Files.writeString(first.resolve("fairgate.yml"), "one");
        Files.writeString(second.resolve("fairgate.yml"), "two");
        Path data = Files.createSymbolicLink(folder.resolve("..data"), first.getFileName());
        Files.createSymbolicLink(file, data.getFileName().resolve("fairgate.yml"));
        watch();
        awaitTold("one");
        Path swap = Files.createSymbolicLink(folder.resolve("..data_tmp"), second.getFileName());
        Files.move(swap, data, StandardCopyOption.ATOMIC_MOVE);
        awaitTold("two");
    }

    @Test
    void a_change_within_one_step_of_the_file_systems_clock_is_told() throws Exception {
        FileTime now = FileTime.fromMillis(System.currentTimeMillis());
        Files.writeString(file, "one");
        Files.setLastModifiedTime(file, now);
        watch();
        awaitTold("one");
        writeOver("two");
        Files.setLastModifiedTime(file, now);
        awaitTold("two");
    }

    @Test
    void a_file_that_stays_is_told_once_and_one_that_is_touched_again() throws Exception {
        Files.writeString(file, "one");
        watch();
        awaitTold("one");
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000_000_000L));
        awaitTold("one");
        writeOver("two");
        awaitTold("two");
        assertThat(told).isEmpty();
    }

    @Test
    void a_file_that_is_gone_is_told_once_and_so_is_one_that_comes_again() throws Exception {
        Files.writeString(file, "one");
        watch();
        awaitTold("one");
        Files.delete(file);
        awaitTold("java.nio.file.NoSuchFileException: " + file);
        Path next = file.resolveSibling("next");
        Files.writeString(next, "two");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        awaitTold("two");
    }

    @Test
    void a_file_that_was_gone_before_the_first_look_is_told() throws Exception {
        watch();
        awaitTold("java.nio.file.NoSuchFileException: " + file);
        Path next = file.resolveSibling("next");
        Files.writeString(next, "one");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        awaitTold("one");
    }

    @Test
    void a_listener_that_throws_is_called_again() throws Exception {
        Files.writeString(file, "one");
        watcher.close();
        watcher = PolicyWatcher.start(file, EVERY, () -> {
            Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {});
            tell();
            throw new IllegalStateException("a bug");
        });
        awaitTold("one");
        writeOver("two");
        awaitTold("two");
    }
}

package io.fairgate.quota.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.CalendarWindow;
import io.fairgate.quota.Quota;
import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaOwner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reading a file that a crash has cut at any byte, or that another program has changed.
 */
class JournalFileTest {
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 1000, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final CalendarWindow TODAY = CalendarWindow.of(DAILY, Instant.parse("2026-03-10T12:00:00Z"));
    private static final CalendarWindow TOMORROW = CalendarWindow.of(DAILY, Instant.parse("2026-03-11T12:00:00Z"));
    private static final List<String> NAMES = List.of("acme", "globex", "initech");

    @TempDir
    private Path directory = Path.of("");

    private Instant wall = Instant.parse("2026-03-10T12:00:00Z");

    private Path file() {
        return directory.resolve("usage");
    }

    private static UsageKey key(String name) {
        return UsageKey.of(new QuotaOwner(QuotaOwner.Kind.TENANT, name), DAILY);
    }

    private static JournalRecord record(String name, long used) {
        return new JournalRecord(key(name), TODAY, used);
    }

    /** One batch, with the same number in each record. */
    private static List<JournalRecord> batch(long used) {
        return NAMES.stream().map(name -> record(name, used)).toList();
    }

    @SafeVarargs
    private byte[] written(List<JournalRecord>... batches) throws IOException {
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            for (List<JournalRecord> batch : batches) {
                file.write(batch);
            }
        }
        return Files.readAllBytes(file());
    }

    private static long used(Map<UsageKey, JournalRecord> live, String name) {
        return Objects.requireNonNull(live.get(key(name))).used();
    }

    @Test
    void a_crash_at_any_byte_of_a_batch_keeps_all_earlier_batches() throws IOException {
        int acknowledged = written(batch(100)).length;
        byte[] all = written(batch(110));
        for (int length = acknowledged; length <= all.length; length++) {
            Files.write(file(), Arrays.copyOf(all, length));
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(file.live().values())
                        .as("cut at byte %d", length)
                        .hasSize(3)
                        .allMatch(record -> record.used() == 100 || record.used() == 110);
                // The shortest possible line, after which the rest of a torn longer line could remain.
                file.write(List.of(record("acme", 120)));
            }
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(used(file.live(), "acme"))
                        .as("the next record, cut at byte %d", length)
                        .isEqualTo(120);
                assertThat(used(file.live(), "globex")).isBetween(100L, 110L);
            }
        }
    }

    @Test
    void a_crash_at_any_byte_of_the_first_line_leaves_a_usable_file() throws IOException {
        byte[] header = written();
        for (int length = 0; length <= header.length; length++) {
            Files.write(file(), Arrays.copyOf(header, length));
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(file.live()).isEmpty();
                file.write(batch(100));
            }
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(file.live().values()).hasSize(3);
            }
        }
    }

    /** Writes as many lines as a file may have; one more line causes a rewrite. */
    private void fill(JournalFile file) throws IOException {
        file.write(batch(1));
        for (int i = 3; i < 1000; i++) {
            file.write(List.of(record("acme", i)));
        }
    }

    @Test
    void a_crash_at_any_byte_of_a_rewrite_leaves_the_old_or_the_new_file() throws IOException {
        byte[] old;
        byte[] anew;
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            fill(file);
            old = Files.readAllBytes(file());
            file.write(List.of(record("acme", 2000)));
            anew = Files.readAllBytes(file());
        }
        assertThat(old.length).isGreaterThan(50_000);
        assertThat(anew.length).isLessThan(500);
        Path next = directory.resolve("usage.next");
        assertThat(next).doesNotExist();

        for (int length = 0; length <= anew.length; length += 7) {
            Files.write(file(), old);
            // Without any byte of the new file: a longer file, left by another rewrite.
            Files.write(next, Arrays.copyOf(anew, length == 0 ? 2 * anew.length : length));
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(used(file.live(), "acme"))
                        .as("%d bytes of the new file", length)
                        .isEqualTo(999);
                file.write(List.of(record("acme", 2000)));
                assertThat(file()).as("rewritten now").hasBinaryContent(anew);
                file.write(List.of(record("globex", 3000)));
            }
            try (JournalFile file = JournalFile.open(file(), () -> wall)) {
                assertThat(used(file.live(), "acme")).isEqualTo(2000);
                assertThat(used(file.live(), "globex")).isEqualTo(3000);
                assertThat(used(file.live(), "initech")).isEqualTo(1);
            }
        }
    }

    @Test
    void a_failed_rewrite_loses_nothing_and_is_repeated_later() throws IOException {
        Path next = Files.createDirectory(directory.resolve("usage.next"));
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            fill(file);
            file.write(List.of(record("acme", 2000)));
            Files.delete(next);
            file.write(List.of(record("acme", 2001)));
            assertThat(Files.size(file())).as("not repeated for each line").isGreaterThan(50_000);
            for (int i = 0; i < 1000; i++) {
                file.write(List.of(record("acme", 2002 + i)));
            }
            assertThat(Files.size(file())).isLessThan(5_000);
        }
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            assertThat(used(file.live(), "acme")).isEqualTo(3001);
        }
    }

    @Test
    void a_rewrite_keeps_the_previous_window() throws IOException {
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            fill(file);
            file.write(List.of(new JournalRecord(key("acme"), TOMORROW, 5)));
        }
        assertThat(Files.readAllLines(file()))
                .startsWith(JournalFile.HEADER, record("acme", 999).line())
                .containsExactlyInAnyOrder(
                        JournalFile.HEADER,
                        record("acme", 999).line(),
                        new JournalRecord(key("acme"), TOMORROW, 5).line(),
                        record("globex", 1).line(),
                        record("initech", 1).line());
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            assertThat(file.live().get(key("acme"))).isEqualTo(new JournalRecord(key("acme"), TOMORROW, 5));
        }
    }

    @Test
    void a_rewrite_drops_old_windows_but_keeps_totals_and_the_last_window() throws IOException {
        JournalRecord total = new JournalRecord(
                new UsageKey(new QuotaOwner(QuotaOwner.Kind.TENANT, "acme"), "all", "total"), CalendarWindow.ALWAYS, 7);
        JournalRecord tomorrow = new JournalRecord(key("globex"), TOMORROW, 5);
        try (JournalFile file = JournalFile.open(file(), () -> wall)) {
            wall = Instant.parse("2026-03-12T00:00:00Z");
            fill(file);
            file.write(List.of(total, tomorrow));
            assertThat(Files.readAllLines(file())).as("ended at most a day ago").hasSize(6);
            wall = wall.plusMillis(1);
            for (int i = 0; i < 1000; i++) {
                file.write(List.of(total));
            }
            assertThat(file.live()).as("live records").containsOnlyKeys(total.key(), tomorrow.key());
        }
        assertThat(Files.readAllLines(file()))
                .hasSizeLessThan(10)
                .contains(record("globex", 1).line(), tomorrow.line(), total.line())
                .noneMatch(line -> line.contains(" acme daily ") || line.contains(" initech "));
    }

    @Test
    void a_file_with_one_wrong_bit_is_refused_and_left_unchanged() throws IOException {
        byte[] good = written(batch(100), List.of(record("acme", 110)));
        for (int i = 0; i < good.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] bad = good.clone();
                bad[i] ^= (byte) (1 << bit);
                Files.write(file(), bad);
                assertThatThrownBy(() -> JournalFile.open(file(), () -> wall).close())
                        .as("byte %d, bit %d of %s", i, bit, new String(bad, StandardCharsets.ISO_8859_1))
                        .isInstanceOf(UnusableJournalException.class);
                assertThat(Files.readAllBytes(file())).isEqualTo(bad);
            }
        }
    }

    @Test
    void an_invalid_line_is_reported_with_its_number() throws IOException {
        List<String> good =
                new ArrayList<>(List.of(new String(written(batch(100)), StandardCharsets.ISO_8859_1).split("\n")));
        for (int line = 2; line <= good.size() + 1; line++) {
            List<String> bad = new ArrayList<>(good);
            bad.add(line - 1, "0badc0de tenant acme daily day 1 2 3");
            Files.write(file(), bad);
            assertThatThrownBy(() -> JournalFile.open(file(), () -> wall))
                    .isInstanceOf(UnusableJournalException.class)
                    .hasMessage(
                            "usage journal %s: line %d is damaged (expected: what was written; without the line, what it said may be given again, and without the file all)",
                            file(), line);
        }
        good.set(good.size() - 1, good.get(good.size() - 1) + "~");
        Files.writeString(file(), String.join("\n", good));
        assertThatThrownBy(() -> JournalFile.open(file(), () -> wall))
                .as("complete but for the line end")
                .hasMessageContaining(": line 4 is damaged ");
    }

    @Test
    void a_foreign_file_is_refused_and_left_unchanged() throws IOException {
        for (String text : List.of("hello\nworld\n", "fairgate usage 2\n", "fairgate usage 10", "\n")) {
            Files.writeString(file(), text);
            assertThatThrownBy(() -> JournalFile.open(file(), () -> wall))
                    .isInstanceOf(UnusableJournalException.class)
                    .hasMessage(
                            "usage journal %s: not a journal (expected: a file that begins with \"fairgate usage 1\", or none)",
                            file());
            assertThat(file()).hasContent(text);
        }
    }
}

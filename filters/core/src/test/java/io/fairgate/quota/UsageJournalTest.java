package io.fairgate.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.quota.Quota.CalendarUnit;
import io.fairgate.quota.QuotaDecision.Balance;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;

/** Usage that survives its process. A crash is a copy of the file at some moment: what the disk knew then. */
class UsageJournalTest {
    private static final Quota.Calendar DAILY = new Quota.Calendar("daily", 1000, CalendarUnit.DAY, ZoneOffset.UTC);
    private static final Quota.Total TOTAL = new Quota.Total("total", 5000);
    private static final Quota.Rate RATE = new Quota.Rate("rate", 9000, Duration.ofHours(1), 9000);
    private static final int CHUNK = 10;
    private static final Duration LONGEST = Duration.ofSeconds(20);

    @TempDir
    private Path directory = Path.of("");

    private final List<UsageJournal> open = new ArrayList<>();
    private final Queue<String> heard = new ConcurrentLinkedQueue<>();
    private volatile Instant wall = Instant.parse("2026-03-10T12:00:00Z");
    private int crashes;

    private final JournalListener listener = new JournalListener() {
        @Override
        public void failed(IOException cause) {
            heard.add("failed");
        }

        @Override
        public void recovered() {
            heard.add("recovered");
        }
    };

    @AfterEach
    void close() throws IOException {
        for (UsageJournal journal : open) {
            journal.close();
        }
    }

    private Path file() {
        return directory.resolve("usage");
    }

    private EmbeddedQuotas start(Path file) {
        UsageJournal journal = UsageJournal.open(file, listener);
        open.add(journal);
        return new EmbeddedQuotas(MonotonicScheduler.INSTANCE, () -> wall, journal);
    }

    private EmbeddedQuotas restart(EmbeddedQuotas quotas) throws IOException {
        quotas.writeExactly();
        open.get(open.size() - 1).close();
        return start(file());
    }

    /** What a new process finds when the old one ends now, without a word. */
    private EmbeddedQuotas crash() throws IOException {
        Path found = directory.resolve("found-" + crashes++);
        Files.copy(file(), found);
        return start(found);
    }

    private static boolean charge(EmbeddedQuotas quotas, long units, Quota... asked) {
        QuotaCharge charge = new QuotaCharge(QuotaSet.of(VirtualQuotas.ACME, asked), units);
        return Objects.requireNonNull(quotas.charge(charge).block(LONGEST)).allowed();
    }

    private static long used(EmbeddedQuotas quotas, Quota quota) {
        Balance balance = Objects.requireNonNull(
                        quotas.balances(QuotaSet.of(VirtualQuotas.ACME, quota)).block())
                .get(0);
        return quota.limit() - balance.remaining();
    }

    @Test
    void case_59_a_clean_end_keeps_what_was_used_to_the_unit() throws IOException {
        EmbeddedQuotas quotas = start(file());
        charge(quotas, 123, DAILY, TOTAL);
        charge(quotas, 4, RATE, TOTAL);
        EmbeddedQuotas next = restart(quotas);
        assertThat(used(next, DAILY)).isEqualTo(123);
        assertThat(used(next, TOTAL)).isEqualTo(127);
        assertThat(used(next, RATE)).as("not a calendar's").isZero();
    }

    @Test
    void what_is_written_is_read_again_whatever_the_digits_of_the_language() throws IOException {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            EmbeddedQuotas quotas = start(file());
            charge(quotas, 123, DAILY, TOTAL);
            EmbeddedQuotas next = restart(quotas);
            assertThat(used(next, DAILY)).isEqualTo(123);
            assertThat(used(next, TOTAL)).isEqualTo(123);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void case_60_a_crash_at_any_moment_admits_nothing_twice_and_loses_at_most_a_chunk() throws IOException {
        EmbeddedQuotas quotas = start(file());
        Random random = new Random(7);
        long used = 0;
        for (int i = 0; i < 60; i++) {
            long units = 1L + random.nextInt(CHUNK);
            assertThat(charge(quotas, units, DAILY)).isTrue();
            used += units;
            assertThat(used(crash(), DAILY)).isBetween(used, used + CHUNK);
        }
    }

    @Test
    void processes_that_crash_again_and_again_admit_no_more_than_the_limit() throws IOException {
        long admitted = 0;
        EmbeddedQuotas quotas = start(file());
        Random random = new Random(11);
        for (int lives = 0; lives < 200; lives++) {
            for (int i = random.nextInt(12); i > 0; i--) {
                admitted += charge(quotas, 1, DAILY) ? 1 : 0;
            }
            byte[] onDisk = Files.readAllBytes(file());
            open.get(open.size() - 1).close();
            Files.write(file(), onDisk);
            quotas = start(file());
        }
        while (charge(quotas, 1, DAILY)) {
            admitted++;
        }
        assertThat(admitted).isBetween(1000L - 200L * CHUNK, 1000L);
    }

    @Test
    void a_new_window_begins_unused_and_the_old_file_does_not_matter() throws IOException {
        EmbeddedQuotas quotas = start(file());
        charge(quotas, 900, DAILY);
        wall = Instant.parse("2026-03-11T00:00:00Z");
        EmbeddedQuotas next = restart(quotas);
        assertThat(used(next, DAILY)).isZero();
        assertThat(charge(next, 1000, DAILY)).isTrue();
        wall = Instant.parse("2026-03-10T12:00:00Z");
        assertThat(used(restart(next), DAILY)).as("the clock was set back").isEqualTo(1000);
    }

    @Test
    void a_request_seldom_waits_for_the_disk() {
        EmbeddedQuotas quotas = start(file());
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, DAILY);
        assertThat(quotas.chargeNow(set, 1))
                .as("the first chunk is not on the disk")
                .isNull();
        assertThat(charge(quotas, 1, DAILY)).isTrue();
        int waited = 0;
        for (int i = 0; i < 500; i++) {
            if (quotas.chargeNow(set, 1) == null) {
                waited++;
                assertThat(charge(quotas, 1, DAILY)).isTrue();
            }
            open.get(0).written().block(LONGEST);
        }
        assertThat(waited).isZero();
    }

    @Test
    void many_that_wait_for_one_chunk_all_get_an_answer() {
        EmbeddedQuotas quotas = start(file());
        QuotaSet set = QuotaSet.of(VirtualQuotas.ACME, DAILY);
        Long passed = Flux.range(0, 1200)
                .flatMap(i -> quotas.charge(new QuotaCharge(set, 1)), 300)
                .filter(QuotaDecision::allowed)
                .count()
                .block(LONGEST);
        assertThat(passed).isEqualTo(1000);
    }

    @Test
    void units_that_were_given_back_are_not_lost_in_a_crash_and_a_debt_is_written() throws IOException {
        EmbeddedQuotas quotas = start(file());
        QuotaCharge large = new QuotaCharge(QuotaSet.of(VirtualQuotas.ACME, DAILY), 600);
        quotas.charge(large).block(LONGEST);
        quotas.settle(large, 100).block();
        charge(quotas, 1, DAILY);
        open.get(0).written().block(LONGEST);
        charge(quotas, 1, DAILY);
        open.get(0).written().block(LONGEST);
        assertThat(used(crash(), DAILY)).isBetween(102L, 102L + CHUNK);
        QuotaCharge small = new QuotaCharge(QuotaSet.of(VirtualQuotas.ACME, DAILY), 1);
        quotas.charge(small).block(LONGEST);
        open.get(0).written().block(LONGEST);
        quotas.settle(small, 798).block();
        open.get(0).written().block(LONGEST);
        assertThat(used(crash(), DAILY)).isBetween(900L, 900L + CHUNK);
    }

    @Test
    void a_last_line_that_was_cut_off_is_as_if_it_had_not_been_written() throws IOException {
        EmbeddedQuotas quotas = start(file());
        charge(quotas, 50, DAILY);
        quotas.writeExactly();
        open.get(0).close();
        String text = Files.readString(file());
        for (int cut = 1; cut < 12; cut++) {
            Files.writeString(file(), text + "0badc0de tenant acme da".substring(0, cut));
            assertThat(used(crash(), DAILY)).isEqualTo(50);
        }
        Files.writeString(file(), text + "a damaged line\n");
        EmbeddedQuotas next = start(file());
        assertThat(used(next, DAILY)).isEqualTo(50);
        charge(next, 20, DAILY);
        assertThat(used(crash(), DAILY)).isBetween(70L, 70L + CHUNK);
    }

    @Test
    void a_file_that_cannot_be_used_is_refused_with_one_sentence() throws IOException {
        Path foreign = Files.writeString(directory.resolve("foreign"), "hello\nworld\n");
        assertThatThrownBy(() -> UsageJournal.open(foreign, listener))
                .isInstanceOf(UnusableJournalException.class)
                .hasMessage(
                        "usage journal %s: not a journal (expected: a file that begins with \"fairgate usage 1\", or none)",
                        foreign);
        assertThat(foreign).hasContent("hello\nworld");

        Path nowhere = directory.resolve("missing/usage");
        assertThatThrownBy(() -> UsageJournal.open(nowhere, listener))
                .isInstanceOf(UnusableJournalException.class)
                .hasMessageStartingWith("usage journal %s: no such directory ", nowhere)
                .hasMessageEndingWith("(expected: a file in a directory that can be written)");
        assertThatThrownBy(() -> UsageJournal.open(directory, listener)).isInstanceOf(UnusableJournalException.class);

        charge(start(file()), 50, DAILY);
        assertThatThrownBy(() -> UsageJournal.open(file(), listener))
                .hasMessage("usage journal %s: in use already (expected: one process for each file)", file());

        open.get(0).close();
        Files.writeString(
                file(), Files.readString(file()).replaceFirst("\n", "\nxx"), StandardOpenOption.TRUNCATE_EXISTING);
        Files.writeString(
                file(),
                new JournalRecord(
                                        new JournalRecord.Key(QuotaOwner.group("a"), UsageKey.of(DAILY)),
                                        CalendarWindow.ALWAYS,
                                        1)
                                .line()
                        + "\n",
                StandardOpenOption.APPEND);
        assertThatThrownBy(() -> UsageJournal.open(file(), listener)).hasMessageContaining("line 2 is damaged");
    }

    @Test
    void a_file_is_written_anew_when_most_of_its_lines_no_longer_count() throws IOException {
        EmbeddedQuotas quotas = start(file());
        Quota.Total wide = new Quota.Total("wide", 5000);
        for (int i = 0; i < 1500; i++) {
            QuotaCharge charge = new QuotaCharge(QuotaSet.of(VirtualQuotas.ACME, wide), 1);
            quotas.charge(charge).block(LONGEST);
            quotas.settle(charge, 60).block();
            quotas.writeExactly();
            if (used(quotas, wide) > 4000) {
                break;
            }
        }
        for (int i = 0; i < 1200; i++) {
            quotas.writeExactly();
        }
        open.get(0).written().block(LONGEST);
        for (int i = 0; i < 5; i++) {
            quotas.writeExactly();
            open.get(0).written().block(LONGEST);
        }
        assertThat(Files.readAllLines(file(), StandardCharsets.ISO_8859_1)).hasSizeLessThan(1000);
        assertThat(used(restart(quotas), wide)).isBetween(4000L, 4100L);
    }

    @Test
    void while_the_disk_fails_usage_is_counted_in_memory_and_that_is_told_once() throws IOException {
        EmbeddedQuotas quotas = start(file());
        charge(quotas, 1, DAILY);
        open.get(0).breakFile();
        for (int i = 0; i < 999; i++) {
            assertThat(charge(quotas, 1, DAILY)).isTrue();
        }
        assertThat(charge(quotas, 1, DAILY)).isFalse();
        assertThat(heard).containsExactly("failed");
    }

    @Test
    void whoever_comes_after_the_end_does_not_wait() throws IOException {
        EmbeddedQuotas quotas = start(file());
        open.get(0).close();
        assertThat(charge(quotas, 1, DAILY)).isTrue();
    }
}

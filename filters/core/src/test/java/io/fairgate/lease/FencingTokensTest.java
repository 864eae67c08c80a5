package io.fairgate.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FencingTokensTest {

    private static final Duration TEN_MINUTES = Duration.ofMinutes(10);

    private Instant now = Instant.parse("2026-11-22T06:00:00Z");
    private final KeptMark mark = new KeptMark();
    private final List<Runnable> writes = new ArrayList<>();

    private static final class KeptMark implements FencingTokens.Mark {
        private long kept;
        private boolean broken;

        @Override
        public long read() {
            return kept;
        }

        @Override
        public void write(long mark) throws IOException {
            if (broken) {
                throw new IOException("full");
            }
            kept = mark;
        }
    }

    private FencingTokens started() throws IOException {
        writes.clear();
        return new FencingTokens(() -> now, mark, writes::add);
    }

    private void write() {
        List<Runnable> due = List.copyOf(writes);
        writes.clear();
        due.forEach(Runnable::run);
    }

    @Test
    void tokens_follow_the_clock_in_microseconds_and_grow_when_it_does_not() {
        FencingTokens tokens = new FencingTokens(() -> now);
        long first = tokens.next();
        assertThat(first).isEqualTo(now.toEpochMilli() * 1000).isLessThan(1L << 53);
        assertThat(tokens.next()).isEqualTo(first + 1);
        now = now.minusSeconds(3600);
        assertThat(tokens.next()).isEqualTo(first + 2);
        now = now.plusSeconds(3601);
        assertThat(tokens.next()).isEqualTo(first + 1_000_000);
    }

    @Test
    void with_a_mark_they_grow_over_a_restart_though_the_clock_was_set_back() throws IOException {
        long before = started().next();
        assertThat(before).isEqualTo(now.toEpochMilli() * 1000);
        now = now.minus(Duration.ofDays(1));
        long after = started().next();
        assertThat(after).isGreaterThan(before);
        now = now.minus(Duration.ofDays(1));
        assertThat(started().next()).isGreaterThan(after);
    }

    @Test
    void the_mark_is_above_what_was_given_out_at_every_moment_and_is_written_now_and_then() throws IOException {
        FencingTokens tokens = started();
        int written = 0;
        for (int second = 0; second < 3600; second++) {
            now = now.plusSeconds(1);
            assertThat(tokens.next()).isEqualTo(now.toEpochMilli() * 1000).isLessThan(mark.kept);
            written += writes.size();
            write();
        }
        assertThat(written).isBetween(12, 36);
    }

    @Test
    void while_the_mark_cannot_be_written_they_are_counted_below_it_and_afterwards_follow_the_clock_again()
            throws IOException {
        FencingTokens tokens = started();
        mark.broken = true;
        now = now.plus(Duration.ofHours(5));
        long stuck = tokens.next();
        write();
        assertThat(stuck).isLessThan(mark.kept - TEN_MINUTES.toMillis() * 1000 / 4);
        assertThat(tokens.next()).isEqualTo(stuck + 1);
        mark.broken = false;
        write();
        assertThat(tokens.next()).isEqualTo(now.toEpochMilli() * 1000).isLessThan(mark.kept);
    }

    @Test
    void a_mark_that_is_being_written_is_not_written_a_second_time() throws IOException {
        FencingTokens tokens = started();
        now = now.plus(Duration.ofHours(1));
        tokens.next();
        tokens.next();
        assertThat(writes).hasSize(1);
    }
}

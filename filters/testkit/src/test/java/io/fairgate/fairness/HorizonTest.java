package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HorizonTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long MILLI = Duration.ofMillis(1).toNanos();

    @Test
    void a_fixed_one_is_never_adjusted() {
        Horizon horizon = new Horizon(5, 0);
        horizon.observeHold(SECOND);
        assertThat(horizon.isDue(10 * SECOND)).isFalse();
        assertThat(horizon.nanos()).isEqualTo(5);
    }

    @Test
    void it_follows_the_first_hold_at_once_and_then_at_most_once_a_second() {
        Horizon horizon = new Horizon(0, 0);
        assertThat(horizon.isDue(0)).as("no hold has been seen").isFalse();
        horizon.observeHold(SECOND);
        assertThat(horizon.isDue(0)).isTrue();
        assertThat(horizon.adjust(0, 1, 1, 1)).isTrue();
        assertThat(horizon.nanos()).isEqualTo(2 * SECOND);

        assertThat(horizon.isDue(SECOND - 1)).isFalse();
        assertThat(horizon.isDue(SECOND)).isTrue();
    }

    @Test
    void it_follows_holds_of_up_to_half_an_hour() {
        Horizon horizon = new Horizon(0, 0);
        horizon.observeHold(1_800 * SECOND);
        assertThat(horizon.adjust(0, 1, 1, 1)).isTrue();
        assertThat(horizon.nanos()).isEqualTo(3_600 * SECOND);

        Horizon longest = new Horizon(0, 0);
        longest.observeHold(1_801 * SECOND);
        assertThat(longest.adjust(0, 1, 1, 1)).isTrue();
        assertThat(longest.nanos()).isEqualTo(3_600 * SECOND);
    }

    @Test
    void one_hold_that_is_very_long_counts_for_32_times_the_mean() {
        Horizon horizon = new Horizon(0, 0);
        horizon.observeHold(SECOND);
        horizon.observeHold(3_600 * SECOND);
        assertThat(horizon.adjust(0, 1, 1, 1)).isTrue();
        assertThat(horizon.nanos()).isEqualTo(5_100 * MILLI);

        Horizon tiny = new Horizon(0, 0);
        tiny.observeHold(0);
        tiny.observeHold(3_600 * SECOND);
        for (int i = 0; i < 300; i++) {
            tiny.observeHold(SECOND);
        }
        assertThat(tiny.adjust(0, 1, 1, 1)).as("grows from nothing").isTrue();
        assertThat(tiny.nanos()).isBetween(1_999 * MILLI, 2_001 * MILLI);
    }

    @Test
    void it_stays_while_it_would_change_by_a_quarter_or_less() {
        Horizon horizon = new Horizon(0, 0);
        horizon.observeHold(125 * MILLI / 2);
        assertThat(horizon.adjust(0, 1, 1, 1)).as("to 125 ms").isFalse();
        assertThat(horizon.nanos()).isEqualTo(100 * MILLI);

        Horizon other = new Horizon(0, 0);
        other.observeHold(125 * MILLI / 2 + 1);
        assertThat(other.adjust(0, 1, 1, 1)).as("to more than 125 ms").isTrue();
    }
}

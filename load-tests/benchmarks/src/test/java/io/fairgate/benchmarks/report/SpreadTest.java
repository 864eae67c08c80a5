package io.fairgate.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {

    @Test
    void the_median_of_an_odd_number_of_rounds_is_the_middle_one() {
        assertThat(new Spread(List.of(9.0, 1.0, 2.0)).median()).isEqualTo(2);
    }

    @Test
    void the_median_of_an_even_number_of_rounds_lies_between_the_middle_two() {
        assertThat(new Spread(List.of(8.0, 1.0, 2.0, 4.0)).median()).isEqualTo(3);
    }

    @Test
    void the_lowest_and_the_highest_round_are_kept() {
        Spread spread = Spread.of(List.of("aaa", "a", "aa"), String::length);

        assertThat(spread.least()).isEqualTo(1);
        assertThat(spread.most()).isEqualTo(3);
        assertThat(Formats.ratio(spread)).isEqualTo("**2.00** (1.00 to 3.00)");
    }

    @Test
    void no_round_is_an_error() {
        assertThatThrownBy(() -> new Spread(List.of())).hasMessage("values: none (expected: at least one)");
    }
}

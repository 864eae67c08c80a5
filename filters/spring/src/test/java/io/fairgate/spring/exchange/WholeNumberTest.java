package io.fairgate.spring.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WholeNumberTest {

    private static final String EIGHTEEN_NINES = "9".repeat(18);

    @ParameterizedTest
    @CsvSource({"0, 0", "7, 7", "'\t 7 ', 7", "007, 7", "0000000000000000000000007, 7", "00, 0"})
    void digits_are_a_number(String text, long number) {
        assertThat(WholeNumber.of(text)).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "-3", "+3", "3.5", "3,5", "1e9", "NaN", "Infinity", "0x10", "3 4", "3;q=1", "٣", "３"})
    void other_texts_are_no_number(String text) {
        assertThat(WholeNumber.of(text)).isNull();
    }

    @Test
    void a_too_large_number_becomes_the_largest() {
        assertThat(WholeNumber.of(EIGHTEEN_NINES)).isEqualTo(999_999_999_999_999_999L);
        assertThat(WholeNumber.of("1" + "0".repeat(18))).isEqualTo(Long.MAX_VALUE);
        assertThat(WholeNumber.of("9".repeat(5000))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void the_largest_of_several_numbers_counts() {
        assertThat(WholeNumber.largest(List.of())).isNull();
        assertThat(WholeNumber.largest(List.of("x", "-1, 1e9"))).isNull();
        assertThat(WholeNumber.largest(List.of("0", "5", "3"))).isEqualTo(5);
        assertThat(WholeNumber.largest(List.of("0, 5 ,x", "3,"))).isEqualTo(5);
        assertThat(WholeNumber.largest(List.of("1", "9".repeat(30)))).isEqualTo(Long.MAX_VALUE);
    }
}

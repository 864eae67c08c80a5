package io.fairgate.gateway.throttle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.gateway.throttle.ThrottleFile.Declared;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration of throttle, in every form. */
class ThrottleFileTest {

    @Test
    void a_semaphore_is_a_number_or_a_table_of_either_kind_and_unknown_keys_are_passed_over() {
        ThrottleFile file = ThrottleFile.parse("""
                litter_collection_interval = "1min"

                [semaphores]
                A = 42
                B = { max = 7, level = 2, colour = "red" }
                "/&" = 1
                'quoted "name"' = { max = 3 }
                huge = 9223372036854775807
                none = 0
                below = -1

                [semaphores.C]
                max = 5
                level = -3

                [logging.stderr]
                level = "INFO"

                [logging.gelf]
                name = "throttle"
                """);
        assertThat(file.semaphores())
                .containsExactlyInAnyOrder(
                        new Declared("A", 42, 0),
                        new Declared("B", 7, 2),
                        new Declared("/&", 1, 0),
                        new Declared("quoted \"name\"", 3, 0),
                        new Declared("huge", Long.MAX_VALUE, 0),
                        new Declared("none", 0, 0),
                        new Declared("below", -1, 0),
                        new Declared("C", 5, -3));
        assertThat(file.logLevel()).isEqualTo("INFO");
    }

    @Test
    void an_unknown_level_is_kept_for_the_setup_of_the_log() {
        assertThat(ThrottleFile.parse("[logging.stderr]\nlevel = 3\n").logLevel())
                .isEqualTo("3");
    }

    @Test
    void an_empty_file_has_no_semaphores_and_says_nothing_of_the_log() {
        assertThat(ThrottleFile.parse("")).isEqualTo(ThrottleFile.EMPTY);
        assertThat(ThrottleFile.parse("[semaphores]\n# none\n")).isEqualTo(ThrottleFile.EMPTY);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "A = 1.5 | 2: semaphores.A: 1.5 (expected: a whole number, or a table with max and level)",
                "A = \"x\" | 2: semaphores.A: x (expected: a whole number, or a table with max and level)",
                "\\nA = [1] | 3: semaphores.A: ",
                "A = { level = 1 } | 2: semaphores.A: [level] (expected: a maximum, as in { max = 4, level = 0 })",
                "A = { max = 1, level = 2147483648 } | 2: semaphores.A.level: 2147483648 (expected: a whole number of 32 bits)",
                "[semaphores.\"a.b\"]\\nmax=1\\nlevel = true | 4: semaphores.a.b.level: true (expected: a whole number of 32 bits)",
                "A = | 2: Unexpected end of input",
                "A = 1\\n\\n[other | 4: Unexpected end of input",
                "A = 1\\nA = 2 | 3: A previously defined",
                "A = 9223372036854775808 | 2: Integer is too large",
            })
    void a_mistake_is_reported_with_its_line(String semaphores, String message) {
        String toml = "[semaphores]\n" + semaphores.replace("\\n", "\n");
        assertThatThrownBy(() -> ThrottleFile.parse(toml))
                .isInstanceOfSatisfying(
                        ThrottleFile.InvalidException.class,
                        invalid -> assertThat(invalid.in("t.toml")).startsWith("t.toml:" + message));
    }

    @Test
    void semaphores_that_are_no_table_are_reported() {
        assertThatThrownBy(() -> ThrottleFile.parse("\nsemaphores = 5"))
                .isInstanceOfSatisfying(
                        ThrottleFile.InvalidException.class,
                        invalid -> assertThat(invalid.in("t.toml"))
                                .isEqualTo("t.toml:2: semaphores: 5 (expected: a table)"));
    }
}

package io.fairgate.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SuggestionsTest {

    @ParameterizedTest
    @CsvSource({
        "permit, permits",
        "PERMITS, permits",
        "pemrits, permits",
        "maxwait, max-wait",
        "max_waiting, max-waiting",
        "ip, id"
    })
    void a_word_is_near_when_few_edits_make_it_the_other(String word, String known) {
        assertThat(Suggestions.nearest(word, List.of("permits", "max-waiting", "max-wait", "id")))
                .isEqualTo(known);
    }

    @Test
    void a_short_word_is_not_near_because_it_is_short() {
        assertThat(Suggestions.nearest("a", List.of("b"))).isNull();
        assertThat(Suggestions.nearest("colour", List.of("permits", "max-wait")))
                .isNull();
    }

    @Test
    void a_long_list_of_known_words_is_cut_but_still_searched() {
        List<String> known =
                List.of("p01", "p02", "p03", "p04", "p05", "p06", "p07", "p08", "p09", "p10", "p11", "p12", "orders");

        assertThat(Suggestions.oneOf("order", known)).endsWith("p11, p12, …; did you mean orders?");
    }
}

package io.fairgate.load.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.load.kit.Knee.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a step test recommends. */
class KneeTest {

    @Test
    void the_fewest_connections_with_nearly_the_most_answers() {
        Knee knee = Knee.of(List.of(
                new Step(1, 20, 50),
                new Step(4, 80, 50),
                new Step(8, 156, 51),
                new Step(16, 160, 100),
                new Step(32, 159, 200)));
        assertThat(knee).isEqualTo(new Knee(8, true, false, 8));
        assertThat(knee.sentence()).startsWith("Recommended: permits: 8,").doesNotContain("answers less");
    }

    @Test
    void the_last_step_is_no_knee() {
        Knee knee = Knee.of(List.of(new Step(1, 20, 50), new Step(2, 40, 50), new Step(4, 80, 50)));
        assertThat(knee.isReached()).isFalse();
        assertThat(knee.sentence()).startsWith("Still growing with 4 connections");
    }

    @Test
    void an_api_that_answers_less_under_load_is_named() {
        Knee knee = Knee.of(List.of(new Step(1, 50, 20), new Step(4, 100, 40), new Step(8, 60, 130)));
        assertThat(knee).isEqualTo(new Knee(4, true, true, 1));
        assertThat(knee.sentence()).contains("so it needs the limit");
    }
}

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
    void without_steps_far_beyond_there_is_no_recommendation() {
        Knee growing = Knee.of(List.of(new Step(18, 336, 53), new Step(19, 366, 53), new Step(20, 380, 53)));
        assertThat(growing.isReached()).isFalse();
        assertThat(growing.sentence()).startsWith("No recommendation: from 19 connections on");
    }

    @Test
    void an_api_that_answers_less_under_load_is_named() {
        Knee knee = Knee.of(
                List.of(new Step(1, 50, 20), new Step(4, 100, 40), new Step(8, 80, 130), new Step(16, 60, 250)));
        assertThat(knee).isEqualTo(new Knee(4, true, true, 1));
        assertThat(knee.sentence()).contains("so it needs the limit");
    }

    @Test
    void one_bad_step_at_the_end_says_nothing() {
        Knee knee = Knee.of(
                List.of(new Step(4, 80, 50), new Step(8, 156, 51), new Step(16, 160, 100), new Step(32, 90, 200)));
        assertThat(knee).isEqualTo(new Knee(8, true, false, 8));
    }
}

package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SeededModelTest {

    /** Fails at a one after three even numbers. */
    private record ThreeEvensThenAOne() implements SeededModel.Scenario<Integer> {
        @Override
        public Integer operation(Random random) {
            return random.nextInt(10);
        }

        @Override
        public SeededModel.Trial<Integer> start() {
            return new SeededModel.Trial<>() {
                private int evens;

                @Override
                public void apply(Integer operation) {
                    evens += operation % 2 == 0 ? 1 : 0;
                    if (evens >= 3 && operation == 1) {
                        throw new IllegalStateException("a one after %d evens".formatted(evens));
                    }
                }
            };
        }
    }

    @Test
    void a_failure_is_shrunk_to_its_necessary_operations_and_names_its_seed() {
        assertThatThrownBy(() -> new SeededModel<Integer>(10, 200).check(random -> new ThreeEvensThenAOne()))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("-Dfairgate.seed=")
                .hasMessageContaining("4 operations:")
                .hasMessageContaining("a one after 3 evens")
                .hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_run_without_a_failure_passes() {
        assertThatCode(() -> new SeededModel<Integer>(10, 3).check(random -> new ThreeEvensThenAOne()))
                .doesNotThrowAnyException();
    }
}

package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.testkit.SeededModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class SchedulerModelTest {

    private final List<BacklogModel> models = new ArrayList<>();

    @Test
    void the_scheduler_grants_in_the_order_of_a_naive_model() {
        new SeededModel<Step>(1_500, 200).check(pool());
        assertThat(compared()).as("grants compared").isGreaterThan(SeededModel.partOf(50_000));
        assertThat(models.stream().mapToInt(model -> model.failedCollections).sum())
                .as("collections that failed")
                .isGreaterThan(SeededModel.partOf(500));
        assertMostWasFollowed();
    }

    @Test
    void the_order_of_grants_is_that_of_the_model_with_calculated_caps() {
        Function<Random, RandomPool> pool = pool();
        new SeededModel<Step>(1_000, 200).check(random -> pool.apply(random).withCalculator(random));
        assertThat(compared()).as("grants compared").isGreaterThan(SeededModel.partOf(20_000));
        assertMostWasFollowed();
    }

    private Function<Random, RandomPool> pool() {
        return RandomPool.watchedBy(trial -> {
            BacklogModel model = new BacklogModel(trial);
            models.add(model);
            return model;
        });
    }

    private int compared() {
        return models.stream().mapToInt(model -> model.grantsCompared).sum();
    }

    private void assertMostWasFollowed() {
        int followed = models.stream().mapToInt(model -> model.timesFollowed).sum();
        long lost = models.stream().filter(BacklogModel::isLost).count();
        if (!SeededModel.runsMany()) {
            return;
        }
        assertThat(followed).as("grants decided by rounding").isLessThan(compared() / 50);
        // While permits are collected for another, a tie may end the collection of either request, which is not
        // visible.
        assertThat(lost).as("models that gave up before the end").isLessThan(models.size() / 4);
    }
}

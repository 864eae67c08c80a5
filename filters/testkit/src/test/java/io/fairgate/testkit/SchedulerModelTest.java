package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SchedulerModelTest {

    @Test
    void the_scheduler_grants_in_the_very_order_of_a_naive_model_of_its_rules() {
        List<BacklogModel> models = new ArrayList<>();
        new SeededModel<Step>(3_000, 200).check(RandomPool.watchedBy(trial -> {
            BacklogModel model = new BacklogModel(trial);
            models.add(model);
            return model;
        }));
        int compared = models.stream().mapToInt(model -> model.grantsCompared).sum();
        int followed = models.stream().mapToInt(model -> model.timesFollowed).sum();
        long lost = models.stream().filter(BacklogModel::isLost).count();
        assertThat(compared).as("grants compared").isGreaterThan(100_000);
        assertThat(followed).as("grants left to the last digits").isLessThan(compared / 50);
        assertThat(lost).as("models that gave up before the end").isLessThan(models.size() / 5);
    }
}

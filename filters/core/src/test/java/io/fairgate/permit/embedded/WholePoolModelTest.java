package io.fairgate.permit.embedded;

import io.fairgate.fairness.model.RandomPool;
import io.fairgate.fairness.model.Step;
import io.fairgate.testkit.SeededModel;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WholePoolModelTest {

    @Test
    void a_pool_agrees_with_a_sequential_ledger_on_and_off_the_fast_path() {
        new SeededModel<Step>(1_000, 500).check(random -> new WholePool(pool(random), random.nextInt(3) > 0));
    }

    /** Mostly without caps and reservations, and with requests of one permit: only then the fast path is open. */
    private static RandomPool pool(Random random) {
        RandomPool pool = RandomPool.unwatched(random);
        return random.nextInt(4) == 0 ? pool : pool.withoutSettings();
    }

    private record WholePool(RandomPool pool, boolean quiet) implements SeededModel.Scenario<Step> {
        @Override
        public Step operation(Random random) {
            return pool.operation(random);
        }

        @Override
        public SeededModel.Trial<Step> start() {
            return new WholePoolTrial(pool, quiet);
        }
    }
}

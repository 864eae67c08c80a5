package io.fairgate.testkit;

import java.util.Random;
import org.junit.jupiter.api.Test;

class WholePoolModelTest {

    @Test
    void a_whole_pool_keeps_to_a_sequential_ledger_whether_permits_lie_open_or_are_queued_for() {
        new SeededModel<Step>(2_000, 500).check(random -> new WholePool(pool(random), random.nextInt(3) > 0));
    }

    /** Mostly without caps and reservations, and for one permit at a time: only then permits lie open. */
    private static RandomPool pool(Random random) {
        RandomPool pool = RandomPool.watchedBy(trial -> new PoolWatch() {}).apply(random);
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

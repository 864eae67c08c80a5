package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.ShareSettings;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Debts of tenants that the policy does not name, of which a pool keeps a bounded number. */
class KeptDebtsTest {

    private static final int MANY = 2 * Hierarchy.MOST_DEBTS_KEPT + 1_000;
    private static final int LARGE = 10;

    /** Its weight is so large that the virtual time hardly moves, and no debt is paid back. */
    private final TestPool pool =
            new TestPool(2, TestPool.shares(Map.of("busy", ShareSettings.ofWeight(1e6))), TestPool.NEVER_FORGETS);

    private TestRequest held = pool.hold("busy", 1);

    KeptDebtsTest() {
        pool.hold("busy", 1);
    }

    /** The tenant holds a permit while another one waits, so that it owes this time. */
    private void owe(String tenant, double seconds) {
        TestRequest waiting = pool.ask("busy", 1);
        TestRequest request = pool.ask(tenant, 1);
        pool.release(held);
        assertThat(request.isHolding()).as(tenant).isTrue();
        pool.seconds(seconds);
        pool.release(request);
        assertThat(waiting.isHolding()).isTrue();
        held = waiting;
    }

    @Test
    void the_smallest_debts_are_forgotten_first_however_old_the_large_ones_are() {
        IntStream.range(0, LARGE).forEach(i -> owe("large-" + i, 5));
        IntStream.range(0, MANY).forEach(i -> owe("small-" + i, 0.01 + 1e-6 * i));

        assertThat(pool.scheduler.status(pool.now()).tenants())
                .as("known")
                .hasSizeBetween(Hierarchy.MOST_DEBTS_KEPT, 2 * Hierarchy.MOST_DEBTS_KEPT);
        assertThat(IntStream.range(0, LARGE).mapToObj(i -> "large-" + i)).allMatch(pool::knows);
        assertThat(pool.knows("small-0")).as("the smallest").isFalse();
        assertThat(pool.knows("small-" + (MANY - 1)))
                .as("the largest of the small ones")
                .isTrue();
    }
}

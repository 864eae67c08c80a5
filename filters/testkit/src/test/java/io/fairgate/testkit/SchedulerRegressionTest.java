package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.fairgate.fairness.TenantShares;
import org.junit.jupiter.api.Test;

/** What was broken once. */
class SchedulerRegressionTest {

    @Test
    void a_resize_while_an_idle_tenant_can_be_forgotten_forgets_it_and_goes_on() {
        TestPool pool = new TestPool(1, TenantShares.EQUAL);
        TestClaim first = pool.hold("ahead", 1);
        pool.ask("busy", 1, 2);
        pool.grant();
        pool.seconds(2);
        pool.release(first);
        assertThat(pool.knows("ahead")).as("known while it is ahead").isTrue();
        pool.seconds(60);

        assertThatCode(() -> pool.resize(2)).doesNotThrowAnyException();

        assertThat(pool.knows("ahead")).isFalse();
    }
}

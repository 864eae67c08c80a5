package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.fairness.TenantShares;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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

    @Test
    void members_that_tie_are_served_in_the_order_of_the_policy_in_every_process() {
        List<String> names = IntStream.range(0, 40).mapToObj(i -> "m" + i).toList();
        Map<String, ShareSettings> members = new LinkedHashMap<>();
        names.forEach(name -> members.put(name, ShareSettings.EQUAL));
        TestPool pool = new TestPool(40, TestPool.shares(members));
        names.forEach(name -> pool.ask(name, 1));

        assertThat(pool.grant()).isEqualTo(names);
    }
}

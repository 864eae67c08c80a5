package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests of fixed bugs. */
class SchedulerRegressionTest {

    @Test
    void a_resize_that_forgets_an_idle_tenant_succeeds() {
        TestPool pool = new TestPool(1, TenantShares.EQUAL);
        TestRequest first = pool.hold("ahead", 1);
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
    void equal_members_are_served_in_the_order_of_the_policy() {
        List<String> names = IntStream.range(0, 40).mapToObj(i -> "m" + i).toList();
        Map<String, ShareSettings> members = new LinkedHashMap<>();
        names.forEach(name -> members.put(name, ShareSettings.EQUAL));
        TestPool pool = new TestPool(40, TestPool.shares(members));
        names.forEach(name -> pool.ask(name, 1));

        assertThat(pool.grant()).isEqualTo(names);
    }
}

package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.EventLog;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The shares of tenants in groups over an hour, in simulations. */
class TreeSharesTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Holds HOLDS = Holds.exponential(Duration.ofMillis(300));

    private static TenantShares in(TenantShares shares, String group, double weight, String tenant) {
        return shares.withMember(TenantId.of(tenant), ShareSettings.ofWeight(weight), group);
    }

    private static TenantShares twoGroups(double acme, double globex) {
        return TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.ofWeight(acme)))
                .withGroup("globex", Group.of(ShareSettings.ofWeight(globex)));
    }

    private static EventLog run(int permits, TenantShares shares, List<Load> loads) {
        return Simulation.run(Workload.of(permits, shares, HOUR, 7, loads.toArray(new Load[0])));
    }

    private static double share(EventLog log, int tenant) {
        return log.share(tenant, Duration.ofMinutes(1), HOUR);
    }

    @Test
    void two_equal_groups_get_half_each_with_any_number_of_tenants() {
        TenantShares shares = in(twoGroups(1, 1), "acme", 1, "alone");
        List<Load> loads = new ArrayList<>(List.of(Load.of("alone", 40, HOLDS)));
        for (int i = 0; i < 9; i++) {
            shares = in(shares, "globex", 1, "one-of-nine-" + i);
            loads.add(Load.of("one-of-nine-" + i, 40, HOLDS));
        }

        EventLog log = run(12, shares, loads);

        assertThat(share(log, 0)).isEqualTo(0.5, offset(0.01));
        for (int i = 1; i <= 9; i++) {
            assertThat(share(log, i)).isEqualTo(1 / 18.0, offset(0.005));
        }
    }

    @Test
    void weights_multiply_on_the_way_down() {
        TenantShares shares = in(in(in(twoGroups(3, 1), "acme", 1, "a"), "acme", 2, "b"), "globex", 5, "c");

        EventLog log =
                run(12, shares, List.of(Load.of("a", 40, HOLDS), Load.of("b", 40, HOLDS), Load.of("c", 40, HOLDS)));

        assertThat(share(log, 0)).as("3/4 of 1/3").isEqualTo(0.25, offset(0.01));
        assertThat(share(log, 1)).as("3/4 of 2/3").isEqualTo(0.5, offset(0.01));
        assertThat(share(log, 2)).as("1/4").isEqualTo(0.25, offset(0.01));
    }

    @Test
    void an_idle_tenants_share_goes_to_its_group() {
        TenantShares shares = in(in(in(twoGroups(1, 1), "acme", 1, "little"), "acme", 1, "much"), "globex", 1, "other");

        EventLog log = run(
                12,
                shares,
                List.of(Load.of("little", 1, HOLDS), Load.of("much", 40, HOLDS), Load.of("other", 40, HOLDS)));

        assertThat(share(log, 0)).isLessThan(1 / 12.0 + 0.001);
        assertThat(share(log, 0) + share(log, 1)).as("acme together").isEqualTo(0.5, offset(0.01));
        assertThat(share(log, 2)).isEqualTo(0.5, offset(0.01));
    }

    @Test
    void an_idle_groups_share_goes_to_the_others() {
        TenantShares shares = in(in(twoGroups(1, 1), "acme", 1, "little"), "globex", 1, "other");

        EventLog log = run(12, shares, List.of(Load.of("little", 2, HOLDS), Load.of("other", 40, HOLDS)));

        assertThat(share(log, 1)).as("everything that is left").isGreaterThan(0.83);
    }

    @Test
    void within_a_group_at_its_cap_long_and_short_requests_get_the_same_permit_time() {
        TenantShares shares = TenantShares.EQUAL
                .withGroup("acme", Group.of(ShareSettings.EQUAL.withMaxInFlight(1)))
                .withMember(TenantId.of("long"), ShareSettings.EQUAL, "acme")
                .withMember(TenantId.of("short"), ShareSettings.EQUAL, "acme");
        Holds tenfold = Holds.exponential(Duration.ofSeconds(3));

        EventLog log = run(100, shares, List.of(Load.of("long", 40, tenfold), Load.of("short", 40, HOLDS)));

        assertThat(share(log, 0)).isEqualTo(0.5, offset(0.03));
    }
}

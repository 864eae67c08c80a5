package io.fairgate.spring.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.spring.explain.Explanation.Holder;
import io.fairgate.spring.explain.Explanation.Standing;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who held the permits between two moments, of states that the test adds. */
class UsageHistoryTest {

    /** The clock may begin anywhere. */
    private static final long START = -1_000_000_000_000L;

    private final UsageHistory history = new UsageHistory();
    private final Map<String, Double> used = new TreeMap<>();

    private static long at(double seconds) {
        return START + Math.round(seconds * 1e9);
    }

    private static TenantStatus waiting(String tenant, int inFlight, int waiting, double share, double oldest) {
        return new TenantStatus(
                TenantId.of(tenant),
                null,
                1,
                inFlight,
                waiting,
                share,
                Duration.ZERO,
                Duration.ofSeconds(3),
                Duration.ofNanos(Math.round(oldest * 1e9)),
                List.of());
    }

    private static PoolUse use(Map<String, Double> used, TenantStatus... tenants) {
        return new PoolUse(4, 3, tenants.length, List.of(tenants), Map.copyOf(used));
    }

    /** So much permit-time more than in the state before. */
    private void add(double seconds, Map<String, Double> more, TenantStatus... tenants) {
        more.forEach((tenant, own) -> used.merge(tenant, own, Double::sum));
        history.add(at(seconds), Map.of("pool", use(used, tenants)));
    }

    private @Nullable Explanation explain(String tenant, double from, double to) {
        return history.explain("pool", tenant, at(from), at(to));
    }

    private List<Holder> holders(double from, double to) {
        return Objects.requireNonNull(explain("a", from, to)).holders();
    }

    private static void assertHeld(Holder holder, String tenant, double permitSeconds, double part) {
        assertThat(holder.tenant()).isEqualTo(tenant);
        assertThat(holder.permitSeconds()).isEqualTo(permitSeconds, offset(1e-3));
        assertThat(holder.part()).isEqualTo(part, offset(1e-3));
    }

    @Test
    void the_permit_time_of_the_time_in_between_counts() {
        add(0, Map.of("before", 3.0));
        add(1, Map.of("a", 1.0, "b", 3.0));
        add(2, Map.of("a", 2.0));
        add(3, Map.of("after", 3.0));

        List<Holder> all = holders(0, 2);
        assertThat(all).hasSize(2);
        assertHeld(all.get(0), "a", 3, 0.5);
        assertHeld(all.get(1), "b", 3, 0.5);

        List<Holder> parts = holders(0.75, 1.5);
        assertHeld(parts.get(0), "a", 0.25 + 1, 0.625);
        assertHeld(parts.get(1), "b", 0.75, 0.375);
    }

    @Test
    void a_request_that_did_not_wait_gets_the_second_in_which_it_was_refused() {
        add(0, Map.of());
        add(1, Map.of("a", 1.0));
        add(2, Map.of("b", 2.0));
        assertHeld(holders(1.5, 1.5).get(0), "b", 2, 1);
    }

    @Test
    void the_tenant_is_shown_as_it_was_the_last_time_that_it_waited() {
        add(0, Map.of());
        add(1, Map.of("b", 1.0), waiting("a", 1, 2, 2.0, 0.7), waiting("b", 2, 0, 2.0, 0));
        add(2, Map.of("b", 1.0));
        Explanation explanation = Objects.requireNonNull(explain("a", 0, 2));
        assertThat(explanation.tenant()).isEqualTo(new Standing(1, 2, 2.0, 3));
        assertThat(explanation.permits()).isEqualTo(4);
        assertThat(explanation.inFlight()).isEqualTo(3);
        assertThat(explanation.waiting()).as("the most of both ends").isEqualTo(2);
        assertThat(explanation.seconds()).isEqualTo(2);
        assertThat(Objects.requireNonNull(explain("stranger", 0, 2)).tenant()).isNull();
    }

    @Test
    void a_time_without_states_cannot_be_explained() {
        assertThat(explain("a", 0, 1)).isNull();
        add(5, Map.of());
        add(6, Map.of("a", 1.0));
        assertThat(explain("a", 1, 4)).isNull();
        assertThat(explain("a", 7, 8)).isNull();
        assertThat(history.explain("other", "a", at(5), at(6))).isNull();
    }

    @Test
    void a_state_that_comes_too_soon_is_a_part_of_the_next_one() {
        add(0, Map.of());
        add(1, Map.of("a", 1.0));
        add(1.05, Map.of("a", 1.0));
        add(2, Map.of("a", 1.0));
        assertHeld(holders(1.02, 1.02).get(0), "a", 2, 1);
    }

    @Test
    void a_pool_that_comes_back_begins_anew() {
        add(0, Map.of("a", 50.0));
        history.add(at(1), Map.of());
        add(2, Map.of("a", 50.0));
        assertThat(explain("a", 0, 2)).isNull();
        add(3, Map.of("a", 1.0));
        assertHeld(holders(0, 3).get(0), "a", 1, 1);
    }

    @Test
    void only_those_that_hold_most_and_wait_longest_are_kept() {
        Map<String, Double> more = new HashMap<>();
        TenantStatus[] waiting = new TenantStatus[30];
        for (int i = 0; i < 30; i++) {
            more.put("holder" + i, (1.0 + i) / 465);
            waiting[i] = waiting("waiter" + i, 0, 1, 1, 1 + i);
        }
        add(0, Map.of());
        add(1, more, waiting);
        assertThat(holders(0, 1)).hasSize(UsageInterval.TENANTS);
        // A part of what all 30 held, not only of what the ten held.
        assertHeld(holders(0, 1).get(0), "holder29", 30.0 / 465, 30.0 / 465);
        assertThat(Objects.requireNonNull(explain("waiter29", 0, 1)).tenant()).isNotNull();
        assertThat(Objects.requireNonNull(explain("waiter0", 0, 1)).tenant()).isNull();
    }

    @Test
    void the_oldest_are_dropped_after_an_hour() {
        add(0, Map.of());
        add(1, Map.of("a", 1.0));
        add(3600, Map.of("a", 1.0));
        assertThat(explain("a", 0, 1)).isNotNull();
        add(3602, Map.of("a", 1.0));
        assertThat(explain("a", 0, 1)).isNull();
    }

    @Test
    void the_oldest_are_dropped_when_there_is_no_room() {
        int intervals = UsageHistory.MOST_ROWS / UsageInterval.TENANTS;
        Map<String, Double> more = new HashMap<>();
        for (int i = 0; i < UsageInterval.TENANTS; i++) {
            more.put("holder" + i, 0.01);
        }
        for (int i = 0; i <= intervals; i++) {
            add(i / 10.0, more);
        }
        assertThat(explain("a", 0, 0.1)).isNotNull();
        add((intervals + 1) / 10.0, more);
        assertThat(explain("a", 0, 0.1)).isNull();
        assertThat(explain("a", 0.1, 0.2)).isNotNull();
    }

    @Test
    void a_second_without_requests_is_explained_by_no_holders() {
        add(0, Map.of());
        add(1, Map.of());
        Explanation idle = Objects.requireNonNull(explain("a", 0.5, 0.5));
        assertThat(idle.holders()).isEmpty();
        assertThat(idle.permits()).isEqualTo(4);
        assertThat(idle.seconds()).isEqualTo(1);
    }

    @Test
    void how_much_of_the_wait_is_known_is_told() {
        add(10, Map.of());
        add(11, Map.of("a", 1.0));
        assertThat(Objects.requireNonNull(explain("a", 5, 20)).seconds()).isEqualTo(1);
    }

    @Test
    void a_tenant_that_is_idle_at_the_end_is_shown_as_it_was_before() {
        add(0, Map.of());
        add(1, Map.of("a", 1.0), waiting("a", 1, 5, 2.0, 0.7));
        add(2, Map.of("a", 0.5));
        assertThat(Objects.requireNonNull(explain("a", 0.5, 2)).tenant()).isEqualTo(new Standing(1, 5, 2.0, 3));
    }

    @Test
    void a_hold_that_one_state_has_missed_counts_only_once() {
        add(0, Map.of("long", 600.0));
        history.add(at(1), Map.of("pool", use(Map.of("long", 0.0))));
        history.add(at(2), Map.of("pool", use(Map.of("long", 601.0))));
        assertHeld(holders(0, 2).get(0), "long", 1, 1);
    }

    @Test
    void an_interval_has_no_more_permit_time_than_the_pool_can_have_given() {
        add(0, Map.of());
        add(1, Map.of("a", 2.0));
        // A member was removed: its holds count as those of all others now, with all of their time.
        add(2, Map.of("_other", 54.0, "b", 2.0));
        double all = holders(1, 2).stream().mapToDouble(Holder::permitSeconds).sum();
        assertThat(all).isLessThanOrEqualTo(4 * 1.06);
    }
}

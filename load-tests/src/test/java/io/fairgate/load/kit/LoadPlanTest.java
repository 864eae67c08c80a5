package io.fairgate.load.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How the load is divided, and how it changes. */
class LoadPlanTest {

    private static final Schedule SCHEDULE = new Schedule(List.of(
            new Stage(0, 1, Duration.ofSeconds(10), false),
            new Stage(1, 1, Duration.ofSeconds(20), true),
            new Stage(0.5, 0, Duration.ofSeconds(4), true)));

    private static LoadPlan plan(int load, double... loads) {
        List<TenantPlan> tenants = IntStream.range(0, loads.length)
                .mapToObj(i -> new TenantPlan(
                        "t" + i,
                        Map.of(),
                        "GET",
                        List.of("/"),
                        null,
                        loads[i],
                        List.of(),
                        new Expected(null, 0, Set.of(), Map.of())))
                .toList();
        return new LoadPlan(
                "test",
                URI.create("http://localhost"),
                null,
                Model.CLOSED,
                load,
                SCHEDULE,
                List.of(),
                Duration.ofSeconds(1),
                Duration.ZERO,
                Duration.ZERO,
                0,
                10,
                tenants,
                tenants.stream()
                        .map(tenant -> LoadPlan.scheduleOf(tenant, SCHEDULE))
                        .toList());
    }

    @Test
    void the_level_goes_evenly_from_one_to_the_other() {
        assertThat(SCHEDULE.length()).isEqualTo(Duration.ofSeconds(34));
        assertThat(SCHEDULE.levelAt(Duration.ZERO)).isZero();
        assertThat(SCHEDULE.levelAt(Duration.ofMillis(2_500))).isEqualTo(0.25);
        assertThat(SCHEDULE.levelAt(Duration.ofSeconds(10))).isEqualTo(1);
        assertThat(SCHEDULE.levelAt(Duration.ofSeconds(32))).isEqualTo(0.25);
        assertThat(SCHEDULE.levelAt(Duration.ofSeconds(34))).isZero();
        assertThat(SCHEDULE.stageAt(Duration.ofSeconds(10).minusNanos(1))).isZero();
        assertThat(SCHEDULE.stageAt(Duration.ofSeconds(10))).isEqualTo(1);
        assertThat(SCHEDULE.stageAt(Duration.ofHours(1))).isEqualTo(3);
    }

    @Test
    void all_tenants_together_have_exactly_the_connections_of_the_level() {
        LoadPlan plan = plan(97, 1, 3, 0.1, 7, 7, 7);
        for (double level = 0; level <= 2; level += 0.01) {
            double now = level;
            int sum = IntStream.range(0, 6)
                    .map(tenant -> plan.connectionsOf(tenant, now))
                    .sum();
            assertThat(sum).isEqualTo((int) Math.round(97 * level));
        }
    }

    @Test
    void the_next_change_of_a_level_is_known() {
        assertThat(SCHEDULE.untilChange(Duration.ofSeconds(5))).isEqualTo(Stage.SHORT);
        assertThat(SCHEDULE.untilChange(Duration.ofSeconds(12))).isEqualTo(Duration.ofSeconds(18));
        assertThat(SCHEDULE.untilChange(Duration.ofHours(1))).isEqualTo(Stage.SHORT);
    }

    @Test
    void turns_are_evenly_spread() {
        Turns turns = new Turns(plan(100, 1, 3, 6));
        int[] counts = new int[3];
        for (int i = 1; i <= 1000; i++) {
            counts[turns.next(Duration.ofSeconds(12))]++;
            assertThat(counts[0]).isBetween((int) (0.1 * i) - 1, (int) (0.1 * i) + 1);
        }
        assertThat(counts).containsExactly(100, 300, 600);
    }

    @Test
    void each_has_its_part() {
        LoadPlan plan = plan(100, 1, 3);
        assertThat(plan.partOf(1)).isEqualTo(0.75);
        assertThat(plan.connectionsOf(0, 1)).isEqualTo(25);
        assertThat(plan.connectionsOf(1, 0.5)).isEqualTo(37);
    }
}

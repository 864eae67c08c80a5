package io.fairgate.load.kit;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a run sends, and what is expected of it.
 *
 * @param management Fairgate's management port, to read the permit-time of each tenant; null for other gateways
 * @param load the connections of all tenants together, or their requests a second
 * @param steps the connections of each measured stage, if the plan is a step test; otherwise empty
 * @param timeout a slower answer is a failure
 * @param pause of a connection, after each answer
 * @param pauseAfterRefusal of a connection, after each refusal and failure
 * @param failed the highest percentage of requests that may fail
 * @param tolerance of expected shares, in percent of them
 */
record LoadPlan(
        String name,
        URI gateway,
        @Nullable URI management,
        Model model,
        int load,
        Schedule schedule,
        List<Integer> steps,
        Duration timeout,
        Duration pause,
        Duration pauseAfterRefusal,
        double failed,
        double tolerance,
        List<TenantPlan> tenants) {

    LoadPlan {
        steps = List.copyOf(steps);
        tenants = List.copyOf(tenants);
    }

    /** The part of the load that this tenant sends. */
    double partOf(int tenant) {
        return loadOfFirst(tenant + 1) - loadOfFirst(tenant);
    }

    /** The stages with the levels of this tenant. */
    Schedule scheduleOf(int tenant) {
        List<WrittenLevel> levels = tenants.get(tenant).levels();
        if (levels.isEmpty()) {
            return schedule;
        }
        return new Schedule(IntStream.range(0, levels.size())
                .mapToObj(i -> schedule.stages().get(i).at(levels.get(i)))
                .toList());
    }

    /** The connections, or requests a second, at the end of a stage. */
    int loadAtEndOf(int stage) {
        return (int) Math.round(IntStream.range(0, tenants.size())
                .mapToDouble(tenant -> load
                        * partOf(tenant)
                        * scheduleOf(tenant).stages().get(stage).to())
                .sum());
    }

    /** How many connections this tenant has at a level. At the same level, those of all tenants together are exactly those of the plan. */
    int connectionsOf(int tenant, double level) {
        double all = Math.round(load * level);
        return (int) (Math.round(all * loadOfFirst(tenant + 1)) - Math.round(all * loadOfFirst(tenant)));
    }

    private double loadOfFirst(int count) {
        double sum = tenants.stream().mapToDouble(TenantPlan::load).sum();
        return tenants.subList(0, count).stream().mapToDouble(TenantPlan::load).sum() / sum;
    }
}

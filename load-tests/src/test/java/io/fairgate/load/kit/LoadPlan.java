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
 * @param steps the connections of the steps, if the plan is a step test; otherwise empty
 * @param timeout a slower answer is a failure
 * @param pause of a connection, after each answer
 * @param pauseAfterRefusal of a connection, after each refusal and failure
 * @param failed the highest percentage of requests that may fail
 * @param tolerance of expected shares, in percent of them
 * @param schedules the stages with the levels of each tenant
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
        List<TenantPlan> tenants,
        List<Schedule> schedules) {

    LoadPlan {
        steps = List.copyOf(steps);
        tenants = List.copyOf(tenants);
        schedules = List.copyOf(schedules);
    }

    /** The stages with the levels of a tenant. */
    static Schedule scheduleOf(TenantPlan tenant, Schedule schedule) {
        List<WrittenLevel> levels = tenant.levels();
        return levels.isEmpty()
                ? schedule
                : new Schedule(IntStream.range(0, levels.size())
                        .mapToObj(i -> schedule.stages().get(i).at(levels.get(i)))
                        .toList());
    }

    /** The part of the load that this tenant sends. */
    double partOf(int tenant) {
        return loadOfFirst(tenant + 1) - loadOfFirst(tenant);
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

    /** The load of all tenants in a stage: from the beginning to the end of it. */
    Stage all(int stage) {
        Stage own = schedule.stages().get(stage);
        double from = 0;
        double to = 0;
        for (int tenant = 0; tenant < tenants.size(); tenant++) {
            Stage of = schedules.get(tenant).stages().get(stage);
            from += load * partOf(tenant) * of.from();
            to += load * partOf(tenant) * of.to();
        }
        return new Stage(from, to, own.length(), own.measured());
    }
}

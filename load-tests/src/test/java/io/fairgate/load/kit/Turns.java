package io.fairgate.load.kit;

import java.time.Duration;
import java.util.stream.IntStream;

/** Which tenant sends the next request of the open model: each gets its part of them, evenly spread. Safe for use by many threads. */
final class Turns {

    private final LoadPlan plan;
    private final double[] parts;
    /** By how much of a request each tenant is behind its part. */
    private final double[] owed;

    Turns(LoadPlan plan) {
        this.plan = plan;
        owed = new double[plan.tenants().size()];
        parts = IntStream.range(0, owed.length).mapToDouble(plan::partOf).toArray();
    }

    /** The tenant that is behind most, at this time after the start of the run. */
    synchronized int next(Duration time) {
        double all = 0;
        double[] rates = new double[owed.length];
        for (int tenant = 0; tenant < owed.length; tenant++) {
            rates[tenant] = parts[tenant] * plan.schedules().get(tenant).levelAt(time);
            all += rates[tenant];
        }
        int next = 0;
        for (int tenant = 0; tenant < owed.length; tenant++) {
            owed[tenant] += all == 0 ? parts[tenant] : rates[tenant] / all;
            if (owed[tenant] > owed[next]) {
                next = tenant;
            }
        }
        owed[next]--;
        return next;
    }
}

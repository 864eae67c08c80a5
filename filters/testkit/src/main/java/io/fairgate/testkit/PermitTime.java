package io.fairgate.testkit;

import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.EventLog.Kind;
import java.util.List;

/** The permit-time that each tenant of a simulation used from a given moment on, and its longest wait for a grant. */
public final class PermitTime implements Simulation.Observer {

    private final Workload workload;
    private final List<TenantId> tenants;
    private final long from;
    private final double[] used;
    private final int[] inFlight;
    private final int[] waiting;
    private final long[] waitsSince;
    private final long[] longestGap;
    private long now;

    PermitTime(Workload workload, long from) {
        this.workload = workload;
        this.tenants = workload.tenants();
        this.from = from;
        this.used = new double[tenants.size()];
        this.inFlight = new int[tenants.size()];
        this.waiting = new int[tenants.size()];
        this.waitsSince = new long[tenants.size()];
        this.longestGap = new long[tenants.size()];
    }

    /** The tenant's part of the permit-time that the pool could give, including idle permits. */
    public double partOfPool(int tenant) {
        return used[tenant] / ((double) workload.permits() * (now - from));
    }

    /** The tenant's part of the permit-time that was used. */
    public double share(int tenant) {
        double sum = 0;
        for (double one : used) {
            sum += one;
        }
        return used[tenant] / sum;
    }

    /** The longest time in which the tenant had waiting requests and got no grant. */
    public double longestGapSeconds(int tenant) {
        return longestGap[tenant] / 1e9;
    }

    @Override
    public void happened(long at, Kind kind, Load load, long request) {
        until(at);
        int i = tenants.indexOf(load.tenant());
        switch (kind) {
            case ARRIVED -> {
                waitsSince[i] = waiting[i] == 0 ? at : waitsSince[i];
                waiting[i]++;
            }
            case GRANTED -> {
                noteGap(i);
                waiting[i]--;
                waitsSince[i] = at;
                inFlight[i] += load.permits();
            }
            case CANCELLED -> {
                noteGap(i);
                waiting[i]--;
            }
            case RELEASED -> inFlight[i] -= load.permits();
        }
    }

    private void noteGap(int tenant) {
        if (now >= from) {
            longestGap[tenant] = Math.max(longestGap[tenant], now - waitsSince[tenant]);
        }
    }

    void until(long at) {
        long passed = at - Math.max(now, from);
        for (int i = 0; passed > 0 && i < used.length; i++) {
            used[i] += (double) inFlight[i] * passed;
        }
        now = at;
    }
}

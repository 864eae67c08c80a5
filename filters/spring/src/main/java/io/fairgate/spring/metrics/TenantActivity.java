package io.fairgate.spring.metrics;

import io.fairgate.tenant.TenantId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.DoubleAdder;

/** How active members are: their permit-time, of which that of five minutes ago counts half. */
final class TenantActivity {

    private static final double HALF_LIFE = Duration.ofMinutes(5).toNanos();
    /** The activity, in seconds, below which a member is forgotten; an hour of permit-time is after three hours. */
    private static final double NEGLIGIBLE = 1e-6;

    private final Map<TenantId, Use> uses = new ConcurrentHashMap<>();
    private volatile Set<TenantId> members;
    private long measuredAt;

    /** Permit-time of one member, in seconds. */
    private static final class Use {
        private final DoubleAdder sinceMeasured = new DoubleAdder();
        private double before;
    }

    TenantActivity(Set<TenantId> members, long now) {
        this.members = members;
        this.measuredAt = now;
    }

    /** Changes who is a member. The use of other tenants is not recorded, so that their number makes no difference. */
    void setMembers(Set<TenantId> next) {
        members = next;
        uses.keySet().retainAll(next);
    }

    /** Adds permit-time: permits times the seconds for which they were held. */
    void add(TenantId tenant, double seconds) {
        Use use = uses.get(tenant);
        if (use == null && members.contains(tenant)) {
            use = uses.computeIfAbsent(tenant, t -> new Use());
        }
        if (use != null) {
            use.sinceMeasured.add(seconds);
        }
    }

    /** The activity of each member that has any, in seconds. Only one thread at a time may measure. */
    Map<TenantId, Double> measure(long now) {
        double factor = Math.pow(0.5, (now - measuredAt) / HALF_LIFE);
        measuredAt = now;
        Map<TenantId, Double> activity = new HashMap<>();
        uses.forEach((tenant, use) -> {
            use.before = use.before * factor + use.sinceMeasured.sumThenReset();
            if (use.before < NEGLIGIBLE) {
                uses.remove(tenant);
            } else {
                activity.put(tenant, use.before);
            }
        });
        return activity;
    }
}

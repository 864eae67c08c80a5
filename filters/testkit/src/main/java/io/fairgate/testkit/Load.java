package io.fairgate.testkit;

import io.fairgate.tenant.TenantId;
import java.time.Duration;

/**
 * The load of one simulated tenant: each of its connections requests permits, holds them, releases them and requests again
 * at once.
 *
 * @param connections how many requests it has waiting or in flight at any time; far more than the pool's permits are an
 *     infinite backlog, fewer are a bounded demand
 * @param permits the permits of each request
 * @param from when it starts
 * @param until when it stops requesting and cancels its waiting requests
 * @param leaving the part of its requests whose clients leave: half of them while they wait, after the time of a hold, and
 *     half right after the grant, with a hold of a thousandth of the usual one
 */
public record Load(
        TenantId tenant, int connections, Holds holds, int permits, Duration from, Duration until, double leaving) {

    private static final Duration FOREVER = Duration.ofDays(10_000);

    /** A load of requests for one permit each, from the beginning to the end. */
    public static Load of(String tenant, int connections, Holds holds) {
        return new Load(TenantId.of(tenant), connections, holds, 1, Duration.ZERO, FOREVER, 0);
    }

    public Load asking(int permits) {
        return new Load(tenant, connections, holds, permits, from, until, leaving);
    }

    public Load from(Duration from) {
        return new Load(tenant, connections, holds, permits, from, until, leaving);
    }

    public Load until(Duration until) {
        return new Load(tenant, connections, holds, permits, from, until, leaving);
    }

    public Load leaving(double part) {
        return new Load(tenant, connections, holds, permits, from, until, part);
    }
}

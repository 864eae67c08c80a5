package io.fairgate.spring.explain;

import io.fairgate.status.PoolStatus.TenantStatus;
import java.util.List;
import java.util.Map;

/**
 * A pool at one moment.
 *
 * @param permits the size of the pool
 * @param inFlight permits held
 * @param waiting requests that wait
 * @param tenants those that hold permits, wait or still owe, by the tag that they have in meters
 * @param permitSeconds the permit-time used since the start, by tag: permits times the seconds for which they were held
 */
public record PoolUse(
        int permits,
        int inFlight,
        int waiting,
        Map<String, List<TenantStatus>> tenants,
        Map<String, Double> permitSeconds) {}

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
 * @param tenants those that hold permits, wait or still owe
 * @param permitSeconds the permit-time used since the start, by the tag that tenants have in meters: permits times the seconds for which
 *     they were held
 */
public record PoolUse(
        int permits, int inFlight, int waiting, List<TenantStatus> tenants, Map<String, Double> permitSeconds) {}

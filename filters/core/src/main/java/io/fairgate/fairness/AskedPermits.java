package io.fairgate.fairness;

import io.fairgate.tenant.TenantId;
import java.util.Map;

/**
 * What the requests of a pool hold and wait for.
 *
 * @param permits that requests of each tenant hold and wait for, as far as the caps of the tenant and its classes allow
 * @param behindLarge how many of these wait for a request to be granted that is too large for now: larger than the {@linkplain
 *     FairScheduler#limit limit}, or than what came back in time when permits were collected. That request is included; only tenants with
 *     such a request
 * @param largest the permits of the largest request that is the next one of its tenant or class and could be granted, now or with a higher limit;
 *     0 for none
 */
public record AskedPermits(Map<TenantId, Double> permits, Map<TenantId, Double> behindLarge, int largest) {

    public AskedPermits {
        permits = Map.copyOf(permits);
        behindLarge = Map.copyOf(behindLarge);
    }
}

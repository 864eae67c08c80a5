package io.fairgate.fairness;

import io.fairgate.shares.ShareCalculator;
import io.fairgate.shares.ShareSettings;

/**
 * The cap that a {@link ShareCalculator} gives each tenant at this moment. All tenants share one instance, so that one
 * assignment changes the cap of all of them when a tenant becomes active or idle.
 */
final class CalculatedCap {

    int permits = ShareSettings.UNBOUNDED;
}

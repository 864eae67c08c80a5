package io.fairgate.fairness;

/**
 * The cap that a {@link ShareCalculator} gives each tenant at this moment. All tenants share one instance, so that one
 * assignment changes the cap of all of them when a tenant becomes active or idle.
 */
final class CalculatedCap {

    int permits = ShareSettings.UNBOUNDED;
}

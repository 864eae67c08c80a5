package io.fairgate.fairness;

/**
 * What a {@link ShareCalculator} allows each tenant at this moment. All tenants share one of these, so that a tenant that
 * comes or goes changes the cap of all others by one assignment.
 */
final class CalculatedCap {

    int permits = ShareSettings.UNBOUNDED;
}

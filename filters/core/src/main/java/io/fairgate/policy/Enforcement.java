package io.fairgate.policy;

import java.util.Set;

/**
 * What of a policy is enforced. The rest is on trial: it decides and counts as usual, and refuses nobody.
 *
 * @param isOn false puts the whole policy on trial: whatever it would refuse passes
 * @param poolsOnTrial pools that nobody has to wait for
 */
public record Enforcement(boolean isOn, Set<String> poolsOnTrial) {

    /** All of it. */
    public static final Enforcement FULL = new Enforcement(true, Set.of());

    public Enforcement {
        poolsOnTrial = Set.copyOf(poolsOnTrial);
    }

    /** Whether requests wait for permits of the pool, and are refused when they wait in vain. */
    public boolean isOn(String pool) {
        return isOn && !poolsOnTrial.contains(pool);
    }
}

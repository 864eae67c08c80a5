package io.fairgate.policy;

import java.util.Set;

/**
 * The parts of a policy that are enforced. The rest is a dry run: it decides, counts and logs, and refuses no request.
 *
 * @param isOn false for a dry run of the whole policy
 * @param dryRunPools the pools with a dry run: no request waits for their permits
 */
public record Enforcement(boolean isOn, Set<String> dryRunPools) {

    /** Everything is enforced. */
    public static final Enforcement FULL = new Enforcement(true, Set.of());

    public Enforcement {
        dryRunPools = Set.copyOf(dryRunPools);
    }

    /** Whether the pool is enforced: requests wait for its permits, and can be refused. */
    public boolean isOn(String pool) {
        return isOn && !dryRunPools.contains(pool);
    }
}

package io.fairgate.spring;

import io.fairgate.policy.Policy;

/**
 * The policy that is in force. Whoever decides about a request asks once for {@link #current()} and stays with that, so
 * that a change in between cannot make it see half of each.
 */
public final class LivePolicy {

    private volatile Policy current;

    LivePolicy(Policy first) {
        current = first;
    }

    /** The policy in force at this moment; from any thread. */
    public Policy current() {
        return current;
    }

    void replace(Policy next) {
        current = next;
    }
}

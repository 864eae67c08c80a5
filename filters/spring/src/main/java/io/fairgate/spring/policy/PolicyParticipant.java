package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;

/** A component that changes together with the policy. */
public interface PolicyParticipant {

    /** The order in which the participants prepare and commit a policy. */
    enum Order {
        METERS,
        /** Before the pools, which may have permits for each instance. */
        UPSTREAMS,
        /** After the meters, which listen to the pools. */
        POOLS,
        QUOTAS,
        /** After the meters and the pools, whose numbers they show. */
        GAUGES,
        /** Last: when a request is identified as a new tenant, the pools and the quotas must know the tenant. */
        IDENTIFICATION
    }

    Order order();

    /**
     * Creates what the next policy needs and the current one does not have, and touches nothing that is in force. What
     * it throws refuses the policy. Either {@link #commit} or {@link #rollBack} comes next.
     */
    default void prepare(Policy next) {}

    /** Drops what was prepared, because the policy was refused, perhaps before {@link #prepare}. */
    default void rollBack() {}

    /** Changes to the next policy. Must not throw: work that can fail belongs in {@link #prepare}. */
    void commit(Policy next);

    /** All participants have changed, and requests follow the new policy. Must not throw. */
    default void inForce() {}

    /** The policy that was offered is the one in force already, perhaps after others that were refused. Must not throw. */
    default void unchanged() {}
}

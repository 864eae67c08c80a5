package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The policy that is in force, which can be replaced while requests run.
 *
 * <p>Code that decides about a request reads {@link #current()} once and uses that policy to the end, so that a change
 * in between cannot mix two policies.
 */
public final class PolicyHolder {

    private final List<PolicyParticipant> participants = new ArrayList<>();
    private volatile Policy current;

    /** Holds the first policy. */
    public PolicyHolder(Policy first) {
        current = first;
    }

    /** The policy in force at this moment; from any thread. */
    public Policy current() {
        return current;
    }

    /** Adds a component that takes part in each later change. */
    public synchronized void add(PolicyParticipant participant) {
        participants.add(participant);
        participants.sort(Comparator.comparing(PolicyParticipant::order));
    }

    /** The same as {@link #replace(Policy, Runnable)}, without another change. */
    public void replace(Policy next) {
        replace(next, () -> {});
    }

    /**
     * Puts {@code next} in force, for every request that reads the policy from now on. Permits that are held, places in
     * queues and quota balances stay; a pool that {@code next} does not name serves its requests until they have left.
     *
     * <p>All participants prepare; then the other change is made; then all participants commit. Then {@code next} is in force, and
     * {@link PolicyParticipant#inForce} of each participant is called. If a participant or the other change throws before the first
     * commit, all participants roll back, and this throws the same.
     *
     * <p>Changes run one at a time, and block other callers, so this must not be called on an event loop.
     *
     * @param otherChange a change that must fit the policy, such as that of the routes
     */
    public synchronized void replace(Policy next, Runnable otherChange) {
        try {
            participants.forEach(participant -> participant.prepare(next));
            otherChange.run();
        } catch (RuntimeException | Error e) {
            refuse();
            throw e;
        }
        participants.forEach(participant -> participant.commit(next));
        current = next;
        participants.forEach(PolicyParticipant::inForce);
    }

    /** The policy in force was offered again. */
    public synchronized void confirm() {
        participants.forEach(PolicyParticipant::unchanged);
    }

    /** Rolls back because a policy was offered and not put in force, for instance because it is not readable. */
    public synchronized void refuse() {
        participants.forEach(PolicyParticipant::rollBack);
    }
}

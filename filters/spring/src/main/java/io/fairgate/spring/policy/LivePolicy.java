package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The policy that is in force, which can be replaced while requests run.
 *
 * <p>Code that decides about a request reads {@link #current()} once and uses that policy to the end, so that a change
 * in between cannot mix two policies.
 */
public final class LivePolicy {

    /** A component that changes together with the policy. */
    public interface Follower {
        /**
         * Creates what the next policy needs and the current one does not have, and touches nothing that is in force.
         * What it throws refuses the policy. Either {@link #follow} or {@link #giveUp} comes next.
         */
        default void prepare(Policy next) {}

        /**
         * Drops what was prepared for the next policy, because that was refused; also called when the refusal came
         * before {@link #prepare}.
         */
        default void giveUp() {}

        /** A next policy was offered and not put in force. */
        default void refused() {}

        /** Changes to the next policy. Must not throw: work that can fail belongs in {@link #prepare}. */
        void follow(Policy next);
    }

    private final List<Follower> followers = new ArrayList<>();
    private final List<Follower> gates = new ArrayList<>();
    private volatile Policy current;

    /** Holds the first policy. */
    public LivePolicy(Policy first) {
        current = first;
    }

    /** The policy in force at this moment; from any thread. */
    public Policy current() {
        return current;
    }

    /** Adds a component that takes part in each later change. */
    public synchronized void add(Follower follower) {
        followers.add(follower);
    }

    /**
     * Adds a component that changes after all others: the one that admits tenants must not know new tenants before the
     * others do.
     */
    public synchronized void addGate(Follower gate) {
        gates.add(gate);
    }

    private Stream<Follower> all() {
        return Stream.concat(followers.stream(), gates.stream());
    }

    /**
     * Puts {@code next} in force, for every request that reads the policy from now on. Permits that are held, places in
     * queues and quota balances stay; a pool that {@code next} does not name serves its requests until they have left.
     *
     * <p>Changes run one at a time, and other callers are blocked meanwhile, so this must not be called on an event
     * loop.
     */
    public void replace(Policy next) {
        replace(next, () -> {});
    }

    /**
     * The same, together with another change that has to fit to it.
     *
     * @param along run when the pools of {@code next} exist and before anything that is in force has changed; when it
     *     throws, nothing changes, and this throws the same
     */
    public synchronized void replace(Policy next, Runnable along) {
        try {
            all().forEach(follower -> follower.prepare(next));
            along.run();
        } catch (RuntimeException | Error e) {
            all().forEach(Follower::giveUp);
            refuse();
            throw e;
        }
        // Before a request can be admitted by the new policy, so that the pools know its tenants when they come.
        all().forEach(follower -> follower.follow(next));
        current = next;
    }

    /**
     * Reports a next policy that was offered and not put in force, for instance because it could not be read, so that
     * it is counted.
     */
    public synchronized void refuse() {
        all().forEach(Follower::refused);
    }
}

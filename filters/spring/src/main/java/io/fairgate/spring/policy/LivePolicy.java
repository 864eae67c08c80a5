package io.fairgate.spring.policy;

import io.fairgate.policy.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The policy that is in force, and the way to put another in its place while requests run.
 *
 * <p>Whoever decides about a request asks once for {@link #current()} and stays with that, so that a change in between
 * cannot make it see half of each.
 */
public final class LivePolicy {

    /** What has to change along with the policy. */
    public interface Follower {
        /**
         * Makes what the next policy needs and the current one has not, and touches nothing that is in force. Either
         * {@link #follow} or {@link #giveUp} comes next.
         */
        default void prepare(Policy next) {}

        /** The next policy was refused: what was prepared for it goes. */
        default void giveUp() {}

        /** A next policy was offered, and not put in force. */
        default void refused() {}

        /** The policy is now this one. Must not fail: what could, belongs into {@link #prepare}. */
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

    /** From now on it hears of each change. */
    public synchronized void add(Follower follower) {
        followers.add(follower);
    }

    /** The same, after all others: what lets tenants in must not before everything else knows them. */
    public synchronized void addGate(Follower gate) {
        gates.add(gate);
    }

    private Stream<Follower> all() {
        return Stream.concat(followers.stream(), gates.stream());
    }

    /**
     * Puts {@code next} in force, for every request that asks from now on. Permits that are held, places in queues and
     * quota balances stay; a pool that {@code next} does not name serves those that are in it until they have left.
     *
     * <p>Changes come one after another: others wait meanwhile, so this is not for an event loop.
     */
    public void replace(Policy next) {
        replace(next, () -> {});
    }

    /**
     * The same, together with something else that has to fit to it.
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
        // Before anybody can be let in by the new policy, so that its tenants are known to the pools when they come.
        all().forEach(follower -> follower.follow(next));
        current = next;
    }

    /** Tells that a next policy was offered and could not even be read: that is counted. */
    public synchronized void refuse() {
        all().forEach(Follower::refused);
    }
}

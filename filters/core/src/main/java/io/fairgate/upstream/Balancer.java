package io.fairgate.upstream;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the instance for each request to one upstream, by the rules that the package explains. Pure: the time is an argument, in
 * nanoseconds of one clock that never goes back. Not thread-safe: its caller serialises the calls.
 *
 * @param <T> stands for an instance; equal values are one instance
 */
public final class Balancer<T> {

    private final RandomGenerator random;
    private final Map<T, InstanceState<T>> instances = new LinkedHashMap<>();
    /** Those that the settings no longer have, as long as requests are in flight there: they may come back. */
    private final Map<T, InstanceState<T>> leaving = new HashMap<>();

    private Balance balance;
    private HealthRules rules;

    /** The turn of the instance that was chosen last. */
    private double turn;

    /** @param random breaks ties, and spreads the times of probes */
    public Balancer(Map<T, Integer> weights, Balance balance, HealthRules rules, RandomGenerator random) {
        this.random = random;
        this.balance = balance;
        this.rules = rules;
        replace(weights, balance, rules);
    }

    /** Changes the settings. Instances that stay keep their state. */
    public void replace(Map<T, Integer> weights, Balance balance, HealthRules rules) {
        if (weights.isEmpty()) {
            throw new IllegalArgumentException("instances: none (expected: at least 1)");
        }
        this.balance = balance;
        this.rules = rules;
        leaving.putAll(instances);
        instances.clear();
        weights.forEach((instance, weight) -> {
            InstanceState<T> known = leaving.remove(instance);
            InstanceState<T> state = known == null ? new InstanceState<>(instance) : known;
            state.weight = weight;
            instances.put(instance, state);
        });
        leaving.values().removeIf(state -> state.inFlight == 0);
    }

    /** One request to an instance, from its choice until {@link #end}. */
    public static final class Use<T> {

        private final InstanceState<T> state;
        private final @Nullable String pool;
        private final int epoch;
        private final boolean isProbe;
        private long sentAt;
        private boolean hasOutcome;
        private boolean hasEnded;

        private Use(InstanceState<T> state, @Nullable String pool, long now, boolean isProbe) {
            this.state = state;
            this.pool = pool;
            this.sentAt = now;
            this.epoch = state.epoch;
            this.isProbe = isProbe;
        }

        /** The instance that was chosen. */
        public T instance() {
            return state.instance;
        }

        /** Whether its pool has a {@link Limit}. */
        public boolean isLimited() {
            return pool != null;
        }

        /** Whether the instance gets requests as usual now. */
        public boolean isInstanceInUse() {
            return state.isInUse();
        }
    }

    /**
     * A bound for the requests of one pool at each instance.
     *
     * @param most how many may be in flight at an instance with weight 1
     */
    public record Limit(String pool, int most) {}

    /**
     * A change of the state of an instance.
     *
     * @param aside how long it gets no requests, in nanoseconds; 0 when it is in use again
     * @param failures how many failures there were since its last answer
     */
    public record Change<T>(T instance, long aside, int failures) {}

    /**
     * Chooses an instance for a request, which counts as in flight there from now on.
     *
     * @param tried instances that this request was sent to already
     * @param limit of the pool of the request; null for none
     * @return null when all were tried, or none of the others has room
     */
    public @Nullable Use<T> choose(Collection<?> tried, @Nullable Limit limit, long now) {
        InstanceState<T> probed = null;
        List<InstanceState<T>> inUse = new ArrayList<>(instances.size());
        List<InstanceState<T>> others = new ArrayList<>(0);
        for (InstanceState<T> state : instances.values()) {
            if (tried.contains(state.instance)) {
                continue;
            }
            if (state.isInUse()) {
                inUse.add(state);
            } else {
                others.add(state);
            }
            if (probed == null && tried.isEmpty() && state.isDue(now) && state.hasRoom(limit)) {
                probed = state;
            }
        }
        if (probed != null) {
            probed.probe(now);
            return begin(probed, limit, now, true);
        }
        // An instance that is aside may be back: better than no other attempt.
        List<InstanceState<T>> candidates = inUse.isEmpty() ? others : inUse;
        candidates.removeIf(state -> !state.hasRoom(limit));
        if (candidates.isEmpty()) {
            return null;
        }
        InstanceState<T> chosen = balance == Balance.ROUND_ROBIN ? next(candidates) : leastBusy(candidates, now);
        return begin(chosen, limit, now, false);
    }

    private Use<T> begin(InstanceState<T> state, @Nullable Limit limit, long now, boolean isProbe) {
        String pool = limit == null ? null : limit.pool();
        state.add(pool, 1);
        return new Use<>(state, pool, now, isProbe);
    }

    /** The whole request has been sent: from now on the instance may be expected to answer. */
    public void sent(Use<T> use, long now) {
        use.sentAt = now;
    }

    /** Of several that are equally busy one at random, by their weights. */
    private InstanceState<T> leastBusy(List<InstanceState<T>> candidates, long now) {
        InstanceState<T> best = candidates.get(0);
        double least = best.load(now);
        int weightOfTies = best.weight;
        for (int i = 1; i < candidates.size(); i++) {
            InstanceState<T> other = candidates.get(i);
            double load = other.load(now);
            if (load < least) {
                best = other;
                least = load;
                weightOfTies = other.weight;
            } else if (load == least) {
                weightOfTies += other.weight;
                best = random.nextInt(weightOfTies) < other.weight ? other : best;
            }
        }
        return best;
    }

    /** Stride scheduling: each turn of an instance is the later, the smaller its weight is. */
    private InstanceState<T> next(List<InstanceState<T>> candidates) {
        InstanceState<T> first = candidates.get(0);
        for (InstanceState<T> each : candidates) {
            each.turn = Math.max(each.turn, turn); // It does not catch up on what it missed.
            if (each.turn < first.turn) {
                first = each;
            }
        }
        turn = first.turn;
        first.turn += 1.0 / first.weight;
        return first;
    }

    /**
     * Notes what a request says about its instance. Only the first outcome of a request counts.
     *
     * @return null when the state of the instance stays as it was
     */
    public @Nullable Change<T> report(Use<T> use, Outcome outcome, long now) {
        if (use.hasOutcome) {
            return null;
        }
        use.hasOutcome = true;
        InstanceState<T> state = use.state;
        if (use.isProbe) {
            state.isProbed = false;
        }
        switch (outcome) {
            case ANSWERED -> {
                return answered(use, now);
            }
            case FAILED, UNREACHABLE -> {
                return failed(use, outcome, now);
            }
            case LEFT -> {
                return state.isSilent(use.sentAt, now) ? failed(use, Outcome.FAILED, now) : null;
            }
            default -> {
                return null;
            }
        }
    }

    private @Nullable Change<T> answered(Use<T> use, long now) {
        InstanceState<T> state = use.state;
        state.answeredAt = now;
        if (use.epoch != state.epoch) {
            return null;
        }
        int failures = state.failures;
        state.failures = 0;
        state.unreachable = 0;
        if (!state.isAside) {
            return null;
        }
        state.back(now);
        return new Change<>(state.instance, 0, failures);
    }

    private @Nullable Change<T> failed(Use<T> use, Outcome outcome, long now) {
        InstanceState<T> state = use.state;
        state.addBurden(now);
        if (use.epoch != state.epoch) {
            return null;
        }
        state.failures++;
        state.unreachable = outcome == Outcome.UNREACHABLE ? state.unreachable + 1 : 0;
        // While it is aside, only its probes prolong that: when all are aside, every request would.
        boolean putsAside = state.isAside ? use.isProbe : state.failures >= rules.failures() && mayPutAside(state);
        if (!putsAside) {
            return null;
        }
        long aside = asideNanos(state, now);
        state.putAside(now, aside);
        return new Change<>(state.instance, aside, state.failures);
    }

    /** See the package: a failure that its request may have caused counts for half of the instances only. */
    private boolean mayPutAside(InstanceState<T> state) {
        int aside = 0;
        int left = 0;
        for (InstanceState<T> other : instances.values()) {
            if (other.isAside) {
                aside++;
            }
            if (other != state && other.isInUse()) {
                left++;
            }
        }
        boolean isUnreachable = state.unreachable >= rules.failures();
        return left > 0 && (isUnreachable || 2 * (aside + 1) <= instances.size());
    }

    /** Twice the last time, when the instance is aside or has failed again soon after it was back; and up to a fifth more. */
    private long asideNanos(InstanceState<T> state, long now) {
        boolean isAgain = state.isAside || (state.lastAside > 0 && now - state.backAt < state.lastAside);
        long shortest = rules.aside().toNanos();
        long longest = rules.maxAside().toNanos();
        long aside = isAgain ? Math.min(longest, Math.max(shortest, 2 * state.lastAside)) : shortest;
        state.lastAside = aside;
        return aside + (long) (aside * random.nextDouble() / 5);
    }

    /** The request is no longer in flight. It has no effect a second time. Its outcome may be reported before or after. */
    public void end(Use<T> use) {
        InstanceState<T> state = use.state;
        if (!use.hasEnded) {
            use.hasEnded = true;
            state.add(use.pool, -1);
            if (state.inFlight == 0) {
                leaving.remove(state.instance, state);
            }
        }
    }

    /** The request is in flight again, because it is sent over another connection. */
    public void resume(Use<T> use) {
        if (use.hasEnded) {
            use.hasEnded = false;
            use.state.add(use.pool, 1);
        }
    }

    /** Requests in flight at all instances, also at those that the settings no longer have. */
    public int inFlight() {
        int all = 0;
        for (InstanceState<T> state : instances.values()) {
            all += state.inFlight;
        }
        for (InstanceState<T> state : leaving.values()) {
            all += state.inFlight;
        }
        return all;
    }

    /** Requests of a pool in flight at instances that get none while others do. */
    public int inFlightAside(String pool) {
        int aside = 0;
        boolean anyInUse = false;
        for (InstanceState<T> state : instances.values()) {
            anyInUse |= state.isInUse();
            aside += state.isInUse() ? 0 : state.inFlight(pool);
        }
        for (InstanceState<T> state : leaving.values()) {
            aside += state.inFlight(pool);
        }
        return anyInUse ? aside : 0;
    }

    /**
     * Says whether an instance passes its checks. Those that do not get no requests while others do.
     *
     * @return whether that is a change
     */
    public boolean setReady(T instance, boolean isReady) {
        InstanceState<T> state = instances.get(instance);
        if (state == null || state.isReady == isReady) {
            return false;
        }
        state.isReady = isReady;
        return true;
    }

    /** The weights of all instances that are in use, together; of all instances when none is. At least 1. */
    public int weightInUse() {
        int inUse = 0;
        int all = 0;
        for (InstanceState<T> state : instances.values()) {
            inUse += state.isInUse() ? state.weight : 0;
            all += state.weight;
        }
        return inUse == 0 ? all : inUse;
    }

    /** The state of each instance, in the order of the settings. */
    public List<InstanceStatus<T>> status(long now) {
        return instances.values().stream().map(state -> state.status(now)).toList();
    }
}

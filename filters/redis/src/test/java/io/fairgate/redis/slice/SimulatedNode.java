package io.fairgate.redis.slice;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** One gateway: an agent, a clock that runs a little fast or slow, and requests that hold permits. */
final class SimulatedNode {

    private final Supplier<String> names;
    private final double rate;
    private final long clockOffset;
    SliceAgent agent;
    int requests;
    long pausedUntil;
    long cutUntil;
    boolean onOldSide;
    /** The sequence of the latest heartbeat. */
    long latest;

    /** When the heartbeats of the agent were sent, by name and sequence. */
    final Map<String, Long> sent = new HashMap<>();

    SimulatedNode(SliceTerm term, SplittableRandom random, Supplier<String> names) {
        this.names = names;
        this.rate = 1 + random.nextDouble(-term.drift() / 2, term.drift() / 2);
        this.clockOffset = random.nextLong();
        this.agent = newAgent(term);
    }

    private SliceAgent newAgent(SliceTerm term) {
        return new SliceAgent(term, names);
    }

    void restart(SliceTerm term) {
        agent = newAgent(term);
        requests = 0;
    }

    /** The time of the node's own clock. */
    long nanos(long now) {
        return clockOffset + (long) (now * 1e6 * rate);
    }

    int inUse() {
        return requests + agent.moving();
    }

    boolean isPaused(long now) {
        return now < pausedUntil;
    }

    boolean isCut(long now) {
        return now < cutUntil;
    }

    /** The permits that the node's requests may hold now. */
    int usable(long now) {
        return Math.max(0, agent.slice(nanos(now)) - agent.moving());
    }

    boolean canGrant(long now, int permits) {
        return agent.mayGrant(nanos(now)) && inUse() + permits <= agent.slice(nanos(now));
    }

    /** Ends requests when the term has ended, and gives up what is above the target. */
    void tidy(long now) {
        if (agent.slice(nanos(now)) == 0) {
            requests = 0;
        }
        agent.shrink(inUse());
    }
}

package io.fairgate.redis.slice;

import io.fairgate.redis.slice.SimulatedRedis.Server;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Some nodes, a Redis, and everything that goes wrong between them, in virtual time: messages are lost, late, repeated and out of
 * order; nodes pause, are cut off and start anew; clocks drift and step; failovers lose writes. After each event the permits that
 * all nodes and leases may use are counted.
 */
final class ClusterSimulation {

    static final int PERMITS = 40;
    private static final int NODES = 6;
    private static final long BEAT_MILLIS = 100;

    private record Event(long at, long order, Runnable action) {}

    private final SplittableRandom random;
    private final SliceTerm term;
    private final Set<Guard> without;
    private final SliceKernel kernel;
    private final int kindOfTargets;
    private final SimulatedRedis redis;
    private final SimulatedLeases leases;
    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::at).thenComparingLong(Event::order));
    private long now;
    private long order;
    private boolean isCalm;
    private long assertingUntil;
    private int most;
    private int names;

    ClusterSimulation(long seed, Set<Guard> without) {
        this.random = new SplittableRandom(seed);
        this.term = SliceTerm.USUAL;
        this.without = without.isEmpty() ? EnumSet.noneOf(Guard.class) : EnumSet.copyOf(without);
        this.kernel = new SliceKernel(term, SimulatedRedis.ISOLATED_MILLIS, without);
        this.kindOfTargets = random.nextInt(3);
        this.redis = new SimulatedRedis(random.split());
        this.leases = new SimulatedLeases(this, random.split());
        for (int i = 0; i < NODES; i++) {
            nodes.add(new SimulatedNode(term, random, () -> "node-" + names++));
        }
    }

    /** Targets are advice: also senseless ones must be safe. */
    private int target(SimulatedNode node) {
        int rest = Math.max(0, PERMITS - leases.inLedger());
        if (isCalm || kindOfTargets == 0) {
            return rest / NODES + (nodes.indexOf(node) < rest % NODES ? 1 : 0);
        }
        return kindOfTargets == 1
                ? (nodes.indexOf(node) + (int) (now / 700)) % 4 == 0 ? PERMITS : 2
                : random.nextInt(PERMITS + 5);
    }

    long now() {
        return now;
    }

    SimulatedRedis redis() {
        return redis;
    }

    SliceKernel kernel() {
        return kernel;
    }

    SliceTerm term() {
        return term;
    }

    SimulatedNode anyNode() {
        return nodes.get(random.nextInt(nodes.size()));
    }

    /** Runs until the time, and returns the most permits that were usable at once. */
    int run(long chaosMillis) {
        for (SimulatedNode node : nodes) {
            after(random.nextLong(BEAT_MILLIS), () -> beat(node));
            after(random.nextLong(50), () -> work(node));
        }
        after(random.nextLong(3_000), this::trouble);
        runUntil(chaosMillis);
        return most;
    }

    /** No more trouble, until all must be well again. */
    void calm(long millis) {
        isCalm = true;
        leases.stop();
        runUntil(now + millis);
    }

    /** The permits that the nodes have, and those of leases in the ledger. */
    int divided() {
        return nodes.stream()
                        .mapToInt(node -> node.agent.slice(node.nanos(now)))
                        .sum()
                + redis.state().leases.values().stream()
                        .mapToInt(LedgerState.Lease::permits)
                        .sum();
    }

    private void runUntil(long end) {
        while (!events.isEmpty() && events.peek().at() <= end) {
            Event event = events.remove();
            now = event.at();
            event.action().run();
            most = Math.max(most, usable());
        }
        now = end;
    }

    private int usable() {
        return nodes.stream().mapToInt(node -> node.usable(now)).sum() + leases.held(now);
    }

    void after(long millis, Runnable action) {
        events.add(new Event(now + millis, order++, action));
    }

    /** Does something at a node as soon as it is not paused. */
    void at(SimulatedNode node, Runnable action) {
        if (node.isPaused(now)) {
            after(node.pausedUntil - now, () -> at(node, action));
        } else {
            action.run();
        }
    }

    /** Brings a call to the server and its answer back, late, several times, or not at all. */
    <T> void call(SimulatedNode node, Function<Server, T> call, Consumer<T> answered) {
        int copies = isCalm || random.nextInt(100) > 2 ? 1 : 2;
        for (int copy = 0; copy < copies; copy++) {
            if (isLost(node)) {
                continue;
            }
            long delay = delay() + (copy > 0 ? random.nextLong(2_000) : 0);
            boolean onOldSide = node.onOldSide;
            after(delay, () -> {
                @Nullable Server server = redis.server(now, onOldSide);
                if (server != null) {
                    T answer = call.apply(server);
                    if (server.state == redis.state()) {
                        redis.changed(now);
                    }
                    if (!isLost(node)) {
                        after(delay(), () -> at(node, () -> answered.accept(answer)));
                    }
                }
            });
        }
    }

    private boolean isLost(SimulatedNode node) {
        return node.isCut(now) || (!isCalm && random.nextInt(100) < 3);
    }

    private long delay() {
        if (isCalm || random.nextInt(100) < 90) {
            return 1 + random.nextLong(10);
        }
        return random.nextLong(random.nextInt(10) == 0 ? 6_000 : 1_500);
    }

    private void beat(SimulatedNode node) {
        after(BEAT_MILLIS - 20 + random.nextLong(40), () -> beat(node));
        if (node.isPaused(now)) {
            return;
        }
        node.agent.aimAt(target(node));
        node.tidy(now);
        SliceAgent agent = node.agent;
        Heartbeat beat = agent.beat(node.nanos(now), PERMITS, node.inUse(), "");
        node.latest = beat.sequence();
        node.sent.put(beat.node() + "/" + beat.sequence(), now);
        call(
                node,
                server -> kernel.heartbeat(server.state, beat, server.wall(now), server.identity),
                answer -> answered(node, agent, beat, answer));
    }

    private void answered(SimulatedNode node, SliceAgent agent, Heartbeat beat, SliceAnswer answer) {
        if (node.agent != agent) {
            return; // The process is another one.
        }
        SliceAnswer taken = answer;
        if (without.contains(Guard.LATEST_ANSWER) && agent.node().equals(beat.node())) {
            taken = SmallCluster.withSequence(answer, node.latest);
        }
        for (LeaseClaim lease : agent.answered(taken, node.nanos(now))) {
            if (lease.token() > 0) {
                leases.recorded(node, lease, node.sent.getOrDefault(beat.node() + "/" + beat.sequence(), 0L));
            }
        }
        node.tidy(now);
    }

    private void work(SimulatedNode node) {
        after(random.nextLong(40), () -> work(node));
        if (node.isPaused(now)) {
            return;
        }
        node.tidy(now);
        int permits = 1 + random.nextInt(3);
        if (!isCalm && random.nextInt(20) == 0 && node.canGrant(now, permits)) {
            node.agent.granted(leases.newLease(permits));
        } else if (node.canGrant(now, 1)) {
            node.requests++;
            String name = node.agent.node();
            long hold = random.nextInt(10) == 0 ? random.nextLong(2_500) : random.nextLong(200);
            after(
                    hold,
                    () -> at(node, () -> {
                        if (node.agent.node().equals(name) && node.requests > 0) {
                            node.requests--;
                        }
                        node.tidy(now);
                    }));
        }
    }

    private void trouble() {
        if (isCalm) {
            return;
        }
        after(random.nextLong(1_500), this::trouble);
        SimulatedNode node = anyNode();
        int kind = random.nextInt(12);
        if (now < assertingUntil && kind != 4 && kind != 5) {
            return;
        }
        switch (kind) {
            case 0, 1 -> node.pausedUntil = now + random.nextLong(8_000);
            case 2, 3 -> node.cutUntil = now + random.nextLong(8_000);
            case 4, 5 -> redis.stepClock(now);
            case 6 -> {
                leases.restarted(node);
                node.restart(term);
            }
            case 7 -> leave(node);
            case 8 -> {
                redis.failOver(now);
                nodes.forEach(each -> each.onOldSide = random.nextBoolean());
            }
            case 9 -> {
                if (random.nextInt(4) == 0) {
                    flush();
                }
            }
            default -> {}
        }
    }

    /** Everything is lost but what the nodes know, so they must be able to say it. */
    private void flush() {
        assertingUntil = now + 10_000;
        nodes.forEach(node -> {
            node.pausedUntil = now;
            node.cutUntil = now;
        });
        leases.flushed();
        redis.flush(now);
    }

    private void leave(SimulatedNode node) {
        if (!node.isPaused(now) && node.requests == 0 && node.agent.moving() == 0) {
            Heartbeat last = node.agent.lastBeat();
            call(node, server -> kernel.heartbeat(server.state, last, server.wall(now), server.identity), answer -> {});
            leases.restarted(node);
            node.restart(term);
        }
    }
}

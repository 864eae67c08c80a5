package io.fairgate.redis.slice;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.QueuedRequest;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Holds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * Gateways that share a pool, on virtual time: each has the scheduler of the core, an agent, and tenants with requests. The network and
 * the ledger work, and a call takes a millisecond.
 */
final class SimulatedGateways {

    private static final long MILLI = 1_000_000;
    private static final long CALL = MILLI / 2;
    private static final long BEATS = 100 * MILLI;
    private static final long LEAST_BETWEEN_BEATS = 5 * MILLI;
    private static final SliceTerm TERM = SliceTerm.USUAL;

    private record Event(long at, long number, Runnable action) {}

    private final PriorityQueue<Event> events = new PriorityQueue<>(
            (a, b) -> a.at() == b.at() ? Long.compare(a.number(), b.number()) : Long.compare(a.at(), b.at()));
    private final Random random = new Random(7);
    private final SliceKernel kernel = new SliceKernel(TERM, 700, Set.of());
    private final LedgerState ledger = new LedgerState();
    private final int permits;
    private final TenantShares shares;
    private final List<Gateway> gateways = new ArrayList<>();
    private final Map<String, Double> used = new HashMap<>();
    private long now;
    private long number;
    private long measuredFrom;
    private int mostInUse;

    SimulatedGateways(int permits, TenantShares shares, int gateways) {
        this.permits = permits;
        this.shares = shares;
        for (int i = 0; i < gateways; i++) {
            Gateway gateway = new Gateway("gateway-" + i);
            this.gateways.add(gateway);
            at(i * BEATS / gateways, gateway::beatAgain);
        }
        run(Duration.ofSeconds(6));
    }

    private void at(long delay, Runnable action) {
        events.add(new Event(now + delay, number++, action));
    }

    private void run(Duration time) {
        long end = now + time.toNanos();
        for (Event next = events.peek(); next != null && next.at() <= end; next = events.peek()) {
            events.remove();
            now = next.at();
            next.action().run();
        }
        now = end;
    }

    /** Connections of a tenant: each sends its next request when the last one has ended. */
    Connections connect(String tenant, int gateway, int number, Holds holds) {
        return connect(tenant, gateway, number, holds, Duration.ZERO);
    }

    /** @param pause between the end of a request and the next one */
    Connections connect(String tenant, int gateway, int number, Holds holds, Duration pause) {
        Connections connections = new Connections(tenant, gateway, holds, pause);
        for (int i = 0; i < number; i++) {
            at(random.nextInt((int) MILLI), connections::send);
        }
        return connections;
    }

    /** The connections of one tenant at one gateway; they can move to another. */
    final class Connections {

        private final TenantId tenant;
        private final Holds holds;
        private final Duration pause;
        private int gateway;

        Connections(String tenant, int gateway, Holds holds, Duration pause) {
            this.tenant = TenantId.of(tenant);
            this.gateway = gateway;
            this.holds = holds;
            this.pause = pause;
        }

        /** The next request of each connection goes to the other one of two gateways, again and again. */
        void hopEvery(Duration time) {
            at(time.toNanos(), () -> {
                move(1 - gateway);
                hopEvery(time);
            });
        }

        void move(int to) {
            gateway = to;
        }

        private void send() {
            gateways.get(gateway).queue(new Request(this));
        }
    }

    private static final class Request extends QueuedRequest {

        private final Connections from;
        private long grantedAt;

        Request(Connections from) {
            super(from.tenant, null, 1);
            this.from = from;
        }

        @Override
        protected boolean accept() {
            return true;
        }
    }

    private final class Gateway {

        private final SliceAgent agent;
        private final FairScheduler scheduler;
        private final OwedPermits owed = new OwedPermits(0);
        private final ClusterShares division = new ClusterShares(shares);
        private final Map<TenantId, Integer> present = new HashMap<>();
        private NodeShare share = NodeShare.NONE;
        private long lastBeat = -BEATS;
        private boolean isCalling;
        private boolean isBeatDue;
        private boolean isBeatDueAfterwards;

        Gateway(String name) {
            agent = new SliceAgent(TERM, () -> name);
            scheduler = new FairScheduler(permits, shares, FairnessSettings.USUAL, 0);
        }

        // ---- requests ----

        void queue(Request request) {
            boolean waited = scheduler.waiting() > 0;
            present.merge(request.tenant(), 1, Integer::sum);
            scheduler.enqueue(request, now);
            grant();
            if (!waited && scheduler.waiting() > 0) {
                beatSoon();
            }
        }

        private void grant() {
            if (agent.mayGrant(now)) {
                scheduler.grant(now, granted -> {
                    Request request = (Request) granted;
                    request.grantedAt = now;
                    at(request.from.holds.draw(random), () -> release(request));
                });
                mostInUse = Math.max(
                        mostInUse,
                        gateways.stream().mapToInt(g -> g.scheduler.inFlight()).sum());
            }
        }

        private void release(Request request) {
            scheduler.release(request, now);
            present.merge(request.tenant(), -1, Integer::sum);
            used.merge(
                    request.tenant().value(), (double) (now - Math.max(request.grantedAt, measuredFrom)), Double::sum);
            if (agent.slice(now) > share.target()) {
                agent.shrink(scheduler.inFlight());
                follow();
                beatSoon();
            }
            at(request.from.pause.toNanos(), request.from::send);
            grant();
        }

        // ---- the protocol ----

        void beatAgain() {
            beat();
            at(BEATS, this::beatAgain);
        }

        private void beatSoon() {
            if (!isBeatDue) {
                isBeatDue = true;
                at(Math.max(0, lastBeat + LEAST_BETWEEN_BEATS - now), () -> {
                    isBeatDue = false;
                    beat();
                });
            }
        }

        private void beat() {
            if (isCalling) {
                isBeatDueAfterwards = true;
                return;
            }
            isCalling = true;
            lastBeat = now;
            aim();
            Heartbeat beat = agent.beat(now, permits, scheduler.inFlight(), demand().text());
            follow();
            at(CALL, () -> {
                SliceAnswer answer = kernel.heartbeat(ledger, beat, now / MILLI, "redis");
                if (ledger.used() < permits) {
                    gateways.stream().filter(other -> other != this).forEach(other -> at(CALL, other::permitsAreFree));
                }
                at(CALL, () -> answered(answer));
            });
        }

        private NodeDemand demand() {
            Map<TenantId, Double> wanted = new HashMap<>();
            present.forEach((tenant, n) -> {
                if (n > 0) {
                    wanted.put(tenant, (double) n);
                }
            });
            return new NodeDemand(wanted, owed.permitSeconds(now));
        }

        private void aim() {
            Map<String, NodeDemand> all = new HashMap<>();
            agent.demands().forEach((name, text) -> all.put(name, NodeDemand.parse(text)));
            all.put(agent.node(), demand());
            share = division.of(permits, agent.node(), all);
            agent.aimAt(share.target());
            owed.update(now, share, agent.slice(now));
        }

        private void answered(SliceAnswer answer) {
            isCalling = false;
            agent.answered(answer, now);
            if (isBeatDueAfterwards) {
                isBeatDueAfterwards = false;
                beatSoon();
            }
            aim();
            agent.shrink(scheduler.inFlight());
            scheduler.weigh(share.parts(), share.groupParts(), now);
            follow();
        }

        private void permitsAreFree() {
            aim();
            if (share.target() > agent.slice(now)) {
                beatSoon();
            }
        }

        /** The scheduler follows the slice. */
        private void follow() {
            owed.update(now, share, agent.slice(now));
            scheduler.limit(agent.kept(now), now);
            grant();
        }
    }

    // ---- what is measured ----

    /** The parts of the permit-time that tenants used in this time, after some seconds before it. */
    Measured measure(Duration before, Duration time) {
        run(before);
        measuredFrom = now;
        used.clear();
        run(time);
        double sum = used.values().stream().mapToDouble(Double::doubleValue).sum();
        Map<String, Double> parts = new HashMap<>();
        used.forEach((tenant, nanos) -> parts.put(tenant, nanos / sum));
        return new Measured(parts, sum / time.toNanos() / permits, mostInUse);
    }

    /**
     * What was measured.
     *
     * @param used the part of the permit-time in use that each tenant had
     * @param utilization the part of the pool that was in use
     * @param mostInUse the most permits in use at once since the beginning
     */
    record Measured(Map<String, Double> used, double utilization, int mostInUse) {

        double of(String tenant) {
            return used.getOrDefault(tenant, 0.0);
        }
    }
}

package io.fairgate.redis.slice;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Gateways that share a pool, on virtual time: each has a pool of the core, a node, and tenants with requests. The network and the
 * ledger work, and a call takes a millisecond.
 */
final class SimulatedGateways {

    private static final Duration CALL = Duration.ofNanos(500_000);
    private static final SliceTerm TERM = SliceTerm.USUAL;
    private static final long MILLI = 1_000_000;

    private final TestTime time = new TestTime();
    private final Random random = new Random(7);
    private final NearLedger ledger = new NearLedger(time, CALL);
    private final int permits;
    private final List<EmbeddedPermitPool> pools = new ArrayList<>();
    private final Map<String, Double> used = new HashMap<>();
    private long measuredFrom;
    private int inUse;
    private int mostInUse;

    SimulatedGateways(int permits, TenantShares shares, int gateways) {
        this.permits = permits;
        PoolSettings settings = PoolSettings.ofPermits(permits).withMaxWait(Duration.ofHours(1));
        for (int i = 0; i < gateways; i++) {
            String name = "gateway-" + i;
            EmbeddedPermitPool pool = new EmbeddedPermitPool("pool", settings, shares, time, PoolListener.NONE);
            pools.add(pool);
            SliceNode node = new SliceNode(pool, shares, ledger, TERM, () -> name, time, time);
            after(SliceNode.BEATS.multipliedBy(i).dividedBy(gateways), node::start);
        }
        time.advanceBy(Duration.ofSeconds(6));
    }

    private void after(Duration delay, Runnable action) {
        time.schedule(action, delay.toNanos(), TimeUnit.NANOSECONDS);
    }

    private long now() {
        return time.now(TimeUnit.NANOSECONDS);
    }

    /** Connections of a tenant: each sends its next request when the last one has ended. */
    Connections connect(String tenant, int gateway, int number, Holds holds) {
        return connect(tenant, gateway, number, holds, Duration.ZERO);
    }

    /** @param pause between the end of a request and the next one */
    Connections connect(String tenant, int gateway, int number, Holds holds, Duration pause) {
        Connections connections = new Connections(tenant, gateway, holds, pause);
        for (int i = 0; i < number; i++) {
            after(Duration.ofNanos(random.nextInt((int) MILLI)), connections::send);
        }
        return connections;
    }

    /** The connections of one tenant at one gateway; they can move to another. */
    final class Connections {

        private final String tenant;
        private final PermitRequest request;
        private final Holds holds;
        private final Duration pause;
        private int gateway;

        Connections(String tenant, int gateway, Holds holds, Duration pause) {
            this.tenant = tenant;
            this.request = PermitRequest.of(tenant).withEventLoop(Runnable::run).withMaxHold(PoolSettings.MAX_DURATION);
            this.gateway = gateway;
            this.holds = holds;
            this.pause = pause;
        }

        /** The next request of each connection goes to the other one of two gateways, again and again. */
        void hopEvery(Duration time) {
            after(time, () -> {
                move(1 - gateway);
                hopEvery(time);
            });
        }

        void move(int to) {
            gateway = to;
        }

        private void send() {
            pools.get(gateway).acquire(request).subscribe(this::granted);
        }

        private void granted(HeldPermits held) {
            long since = now();
            inUse++;
            mostInUse = Math.max(mostInUse, inUse);
            after(Duration.ofNanos(holds.draw(random)), () -> {
                inUse--;
                used.merge(tenant, (double) (now() - Math.max(since, measuredFrom)), Double::sum);
                held.release();
                after(pause, this::send);
            });
        }
    }

    // ---- what is measured ----

    /** The parts of the permit-time that tenants used in this time, after some seconds before it. */
    Measured measure(Duration before, Duration time) {
        this.time.advanceBy(before);
        measuredFrom = now();
        used.clear();
        this.time.advanceBy(time);
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

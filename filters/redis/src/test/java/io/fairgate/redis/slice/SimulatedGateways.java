package io.fairgate.redis.slice;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.TestTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

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
    private final Set<Integer> cutOff = new HashSet<>();
    private final int permits;
    private final TenantShares shares;
    private final List<EmbeddedPermitPool> pools = new ArrayList<>();
    private final List<SliceNode> nodes = new ArrayList<>();
    private final Map<String, Double> used = new HashMap<>();
    private long measuredFrom;
    private int inUse;
    private int mostInUse;
    private int unavailable;
    private int terms;

    SimulatedGateways(int permits, TenantShares shares, int gateways) {
        this(permits, shares, gateways, OutagePolicy.FAIL_CLOSED);
    }

    SimulatedGateways(int permits, TenantShares shares, int gateways, OutagePolicy outages) {
        this.permits = permits;
        this.shares = shares;
        for (int i = 0; i < gateways; i++) {
            String name = "gateway-" + i + "-";
            EmbeddedPermitPool pool =
                    new EmbeddedPermitPool("pool", settings(permits), shares, time, PoolListener.NONE);
            pools.add(pool);
            SliceNode node = new SliceNode(pool, shares, ledgerOf(i), TERM, outages, () -> name + terms++, time, time);
            nodes.add(node);
            after(HeartbeatTimer.BEATS.multipliedBy(i).dividedBy(gateways), node::start);
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
        return connect(tenant, gateway, number, 1, holds, pause);
    }

    /** @param permits of each request */
    Connections connect(String tenant, int gateway, int number, int permits, Holds holds, Duration pause) {
        Connections connections = new Connections(tenant, gateway, permits, holds, pause);
        for (int i = 0; i < number; i++) {
            after(Duration.ofNanos(random.nextInt((int) MILLI)), connections::send);
        }
        return connections;
    }

    /** The connections of one tenant at one gateway; they can move to another. */
    final class Connections {

        private final String tenant;
        private PermitRequest request;
        private final Holds holds;
        private final Duration pause;
        private int gateway;

        Connections(String tenant, int gateway, int permits, Holds holds, Duration pause) {
            this.tenant = tenant;
            this.request = PermitRequest.of(tenant)
                    .withPermits(permits)
                    .withEventLoop(Runnable::run)
                    .withMaxHold(PoolSettings.MAX_DURATION);
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

        /** Requests that wait for so long are cancelled, and sent again. */
        Connections cancelAfter(Duration wait) {
            request = request.withMaxWait(wait);
            return this;
        }

        void move(int to) {
            gateway = to;
        }

        private void send() {
            pools.get(gateway).acquire(request).subscribe(this::granted, this::refused);
        }

        private void refused(Throwable error) {
            if (error instanceof PoolUnavailableException) {
                unavailable++;
                after(Duration.ofMillis(50), this::send);
            } else if (error instanceof PermitRefusedException) {
                after(Duration.ZERO, this::send);
            } else {
                throw new AssertionError(error);
            }
        }

        private void granted(HeldPermits held) {
            long since = now();
            int permits = request.permits();
            inUse += permits;
            mostInUse = Math.max(mostInUse, inUse);
            after(Duration.ofNanos(holds.draw(random)), () -> {
                inUse -= permits;
                used.merge(tenant, (double) permits * (now() - Math.max(since, measuredFrom)), Double::sum);
                held.release();
                after(pause, this::send);
            });
        }
    }

    private SliceLedger ledgerOf(int gateway) {
        return new LedgerWithoutLeases() {
            @Override
            public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
                return Mono.defer(() -> cutOff.contains(gateway)
                        ? Mono.error(new IOException("connection refused"))
                        : ledger.heartbeat(beat));
            }

            @Override
            public Mono<Void> callNodes() {
                return ledger.callNodes();
            }

            @Override
            public Disposable onCall(Runnable listener) {
                return ledger.onCall(listener);
            }

            @Override
            public Disposable onFreePermits(Runnable listener) {
                return ledger.onFreePermits(listener);
            }
        };
    }

    /** The gateway does not reach the ledger from now on. */
    void cutOff(int gateway) {
        cutOff.add(gateway);
    }

    /** The gateway reaches the ledger again. */
    void connect(int gateway) {
        cutOff.remove(gateway);
    }

    /** The policy of a gateway has another size of the pool from now on. */
    void reload(int gateway, int permits) {
        pools.get(gateway)
                .reconfigure(settings(permits), shares)
                .doOnSubscribe(begun -> nodes.get(gateway).reconfigure(permits, shares))
                .subscribe();
    }

    private static PoolSettings settings(int permits) {
        PoolSettings usual = PoolSettings.ofPermits(permits);
        return new PoolSettings(
                permits,
                usual.maxWaiting(),
                Duration.ofHours(1),
                usual.maxHold(),
                usual.leases(),
                usual.memory(),
                usual.fairness().maxCollect(),
                usual.onClientLeft());
    }

    /** The ledger loses what it kept. */
    void flushLedger() {
        ledger.state = new LedgerState();
    }

    // ---- what is measured ----

    /** The most permits in use at once in a time that begins now. */
    int mostInUse(Duration time) {
        mostInUse = inUse;
        this.time.advanceBy(time);
        return mostInUse;
    }

    /** Requests that errored since the beginning, because their gateway had no slice. */
    int unavailable() {
        return unavailable;
    }

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

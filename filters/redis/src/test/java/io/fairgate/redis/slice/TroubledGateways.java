package io.fairgate.redis.slice;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitRefusedException;
import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.PoolListener;
import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.PoolUnavailableException;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.redis.slice.SimulatedRedis.Server;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.TestTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Gateways with whole pools, in virtual time, and everything that goes wrong between them and Redis: messages are lost, late,
 * repeated and out of order, gateways are cut off, failovers lose writes, clocks step. Requests end within the grace of a term, so
 * all gateways together must never work on more of them than the pool has permits.
 */
final class TroubledGateways {

    static final int PERMITS = 12;
    static final int GATEWAYS = 3;
    private static final int CONNECTIONS = 10;
    private static final int MOST_HOLD_MILLIS = 400;
    private static final SliceTerm TERM = SliceTerm.USUAL;

    private final TestTime time = new TestTime();
    private final SplittableRandom random;
    private final SimulatedRedis redis;
    private final SliceKernel kernel = new SliceKernel(TERM, SimulatedRedis.ISOLATED_MILLIS, Set.of());
    private final List<Gateway> gateways = new ArrayList<>();
    private final List<Connection> connections = new ArrayList<>();
    private boolean isCalm;
    private int names;
    private int inUse;
    private int mostInUse;
    private int unavailable;
    private long usedMillis;

    /** @param outages what gateways grant while Redis does not answer */
    TroubledGateways(long seed, OutagePolicy outages) {
        random = new SplittableRandom(seed);
        redis = new SimulatedRedis(random.split());
        for (int i = 0; i < GATEWAYS; i++) {
            Gateway gateway = new Gateway("node-" + i + "-", outages);
            gateways.add(gateway);
            after(random.nextInt(200), gateway.node::start);
            for (int c = 0; c < CONNECTIONS; c++) {
                Connection connection = new Connection(gateway.pool);
                connections.add(connection);
                after(random.nextInt(200), connection::send);
            }
        }
        after(random.nextInt(3_000), this::trouble);
    }

    private void after(long millis, Runnable action) {
        time.schedule(action, millis, TimeUnit.MILLISECONDS);
    }

    private long now() {
        return time.now(TimeUnit.MILLISECONDS);
    }

    /** Runs with all the trouble, and returns the most permits that were in use at once. */
    int run(Duration chaos) {
        time.advanceBy(chaos);
        return mostInUse;
    }

    /** No more trouble; after some time, the part of the pool that is in use. */
    double calm(Duration before, Duration measured) {
        isCalm = true;
        time.advanceBy(before);
        usedMillis = 0;
        time.advanceBy(measured);
        return (double) usedMillis / measured.toMillis() / PERMITS;
    }

    int mostInUse() {
        return mostInUse;
    }

    /** Requests that errored because the slice of their gateway had ended. */
    int unavailable() {
        return unavailable;
    }

    /** How long ago the last answer was on the connection where that is longest: a request may have been forgotten there. */
    Duration longestSilence() {
        return Duration.ofMillis(connections.stream()
                .mapToLong(connection -> now() - connection.answeredAt)
                .max()
                .orElseThrow());
    }

    private void trouble() {
        if (isCalm) {
            return;
        }
        switch (random.nextInt(6)) {
            case 0 -> redis.failOver(now());
            case 1 -> redis.stepClock(now());
            case 2 -> redis.flush(now());
            default -> gateways.get(random.nextInt(GATEWAYS)).cutUntil = now() + random.nextInt(8_000);
        }
        gateways.forEach(gateway -> gateway.isOnOldSide = random.nextBoolean());
        after(1_000 + random.nextInt(6_000), this::trouble);
    }

    /** Sends one request after the other to a gateway. */
    private final class Connection {

        private final EmbeddedPermitPool pool;
        private long answeredAt;

        Connection(EmbeddedPermitPool pool) {
            this.pool = pool;
        }

        void send() {
            PermitRequest request =
                    PermitRequest.of("tenant-" + random.nextInt(3)).withEventLoop(Runnable::run);
            pool.acquire(request).subscribe(this::granted, this::refused);
        }

        private void granted(HeldPermits held) {
            answeredAt = now();
            inUse++;
            mostInUse = Math.max(mostInUse, inUse);
            int hold = 1 + random.nextInt(random.nextInt(10) == 0 ? MOST_HOLD_MILLIS - 1 : 50);
            after(hold, () -> {
                inUse--;
                usedMillis += hold;
                held.release();
                send();
            });
        }

        private void refused(Throwable error) {
            answeredAt = now();
            if (error instanceof PoolUnavailableException) {
                unavailable++;
            } else if (!(error instanceof PermitRefusedException)) {
                throw new AssertionError(error);
            }
            after(50, this::send);
        }
    }

    /** One gateway, and its way to Redis. */
    private final class Gateway implements LedgerWithoutLeases {

        private final EmbeddedPermitPool pool;
        private final SliceNode node;
        private final List<Runnable> wakeUps = new ArrayList<>();
        private final List<Runnable> calls = new ArrayList<>();
        private long cutUntil;
        private boolean isOnOldSide;

        Gateway(String name, OutagePolicy outages) {
            pool = new EmbeddedPermitPool(
                    "pool", PoolSettings.ofPermits(PERMITS), TenantShares.EQUAL, time, PoolListener.NONE);
            node = new SliceNode(pool, TenantShares.EQUAL, this, TERM, outages, () -> name + names++, time, time);
        }

        @Override
        public Disposable onFreePermits(Runnable listener) {
            wakeUps.add(listener);
            return () -> wakeUps.remove(listener);
        }

        @Override
        public Mono<Void> callNodes() {
            return Mono.fromRunnable(() -> gateways.stream()
                    .filter(other -> !other.isLost())
                    .forEach(other -> other.calls.forEach(Runnable::run)));
        }

        @Override
        public Disposable onCall(Runnable listener) {
            calls.add(listener);
            return () -> calls.remove(listener);
        }

        @Override
        public Mono<SliceAnswer> heartbeat(Heartbeat beat) {
            return Mono.create(sink -> {
                deliver(beat, sink, delay());
                if (!isCalm && random.nextInt(100) < 3) {
                    deliver(beat, sink, delay() + random.nextInt(2_000));
                }
            });
        }

        private void deliver(Heartbeat beat, MonoSink<SliceAnswer> sink, long delay) {
            if (isLost()) {
                return;
            }
            boolean onOldSide = isOnOldSide;
            after(delay, () -> {
                @Nullable Server server = redis.server(now(), onOldSide);
                if (server == null) {
                    sink.error(new IllegalStateException("connection refused"));
                } else {
                    answer(kernel.heartbeat(server.state, beat, server.wall(now()), server.identity), server, sink);
                }
            });
        }

        private void answer(SliceAnswer answer, Server server, MonoSink<SliceAnswer> sink) {
            if (server.state == redis.state()) {
                redis.changed(now());
            }
            if (server.state.used() < PERMITS) {
                gateways.stream()
                        .filter(other -> !other.isLost())
                        .forEach(other -> other.wakeUps.forEach(Runnable::run));
            }
            if (!isLost()) {
                after(delay(), () -> sink.success(answer));
            }
        }

        private boolean isLost() {
            return !isCalm && (now() < cutUntil || random.nextInt(100) < 3);
        }

        private long delay() {
            if (isCalm || random.nextInt(100) < 90) {
                return random.nextInt(5);
            }
            return random.nextInt(1_500);
        }
    }
}

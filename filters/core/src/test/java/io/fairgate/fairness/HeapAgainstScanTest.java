package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The scheduler with its heaps and the same rules on {@link ScanRunQueue}, side by side on random steps: both grant the same
 * requests in the same order, and report the same of every tenant and group, to the last bit. Two thirds of the pools have nested
 * groups and classes of requests, and tenants that move while they wait and hold. The scan adds up all accounts each time, so a
 * sum that drifted would show.
 */
@Tag("long")
class HeapAgainstScanTest {

    private static final int LIVES = 20_000;
    private static final int STEPS = 500;

    @Test
    void the_heaps_grant_in_the_order_of_a_scan() {
        assertThat((long) LIVES * STEPS).isGreaterThanOrEqualTo(10_000_000);
        new SeededModel<Step>(LIVES, STEPS).check(HeapAgainstScanTest::pool);
    }

    static Pool pool(Random random) {
        int permits = 1 + random.nextInt(12);
        int tenants = 1 + random.nextInt(random.nextInt(20) == 0 ? 60 : 8);
        return new Pool(
                permits,
                tenants,
                random.nextBoolean() ? 1 : 1 + random.nextInt(permits + 2),
                random.nextInt(3) > 0,
                random.nextInt(),
                Duration.ofMillis(random.nextBoolean() ? 0 : 100 + random.nextInt(5_000)),
                RandomTree.settings(random));
    }

    /** The next event; {@code number} is a size, an index or a seed. */
    record Step(Kind kind, int tenant, int requestClass, int number, long pause, boolean grants) {
        enum Kind {
            ARRIVE,
            RELEASE,
            CANCEL,
            DECLINE,
            RESIZE,
            LIMIT,
            WEIGH,
            RECONFIGURE
        }
    }

    record Pool(
            int permits,
            int tenants,
            int mostAsked,
            boolean hasGroups,
            int seed,
            Duration gain,
            FairnessSettings settings)
            implements SeededModel.Scenario<Step> {

        @Override
        public Step operation(Random random) {
            int dice = random.nextInt(1000);
            Step.Kind kind = dice < 985 ? ofRequests(dice) : random.nextBoolean() ? ofPools(random) : partial(random);
            int number = kind == Step.Kind.ARRIVE ? 1 + random.nextInt(mostAsked) : random.nextInt(1 << 20);
            int requestClass = hasGroups ? random.nextInt(4) : 0;
            return new Step(kind, random.nextInt(tenants), requestClass, number, pause(random), random.nextInt(8) > 0);
        }

        private static Step.Kind ofRequests(int dice) {
            if (dice < 480) {
                return Step.Kind.ARRIVE;
            }
            return dice < 880 ? Step.Kind.RELEASE : dice < 950 ? Step.Kind.CANCEL : Step.Kind.DECLINE;
        }

        private static Step.Kind ofPools(Random random) {
            return random.nextBoolean() ? Step.Kind.RESIZE : Step.Kind.RECONFIGURE;
        }

        private static Step.Kind partial(Random random) {
            return random.nextBoolean() ? Step.Kind.LIMIT : Step.Kind.WEIGH;
        }

        private static long pause(Random random) {
            int dice = random.nextInt(100);
            return dice < 40
                    ? 0
                    : dice == 99
                            ? Duration.ofHours(random.nextInt(400)).toNanos()
                            : dice < 60
                                    ? random.nextInt(1_000)
                                    : Duration.ofMillis(random.nextInt(dice < 90 ? 500 : 30_000))
                                            .toNanos();
        }

        @Override
        public SeededModel.Trial<Step> start() {
            return new Pair(this);
        }
    }

    private static final class Item extends QueuedRequest {
        private final int number;
        private boolean wanted = true;

        Item(TenantId tenant, int requestClass, int permits, int number) {
            super(tenant, requestClass == 0 ? null : "c" + requestClass, permits);
            this.number = number;
        }

        @Override
        protected boolean accept() {
            return wanted;
        }
    }

    /** One of the two schedulers, with its requests. */
    private static final class Side {
        private final FairScheduler scheduler;
        private final List<Item> waiting = new ArrayList<>();
        private final List<Item> holding = new ArrayList<>();
        private final List<Integer> granted = new ArrayList<>();
        private TenantShares shares;

        Side(Pool pool, Supplier<RunQueue> runQueues) {
            shares = HeapAgainstScanTest.shares(pool.seed(), pool);
            scheduler = new FairScheduler(pool.permits(), shares, pool.settings(), pool.gain(), 0, runQueues);
        }

        void apply(Step step, Pool pool, int number, long now) {
            switch (step.kind()) {
                case ARRIVE -> {
                    Item item = new Item(tenant(step.tenant()), step.requestClass(), step.number(), number);
                    waiting.add(item);
                    scheduler.enqueue(item, now);
                }
                case RELEASE -> {
                    if (!holding.isEmpty()) {
                        scheduler.release(holding.remove(step.number() % holding.size()), now);
                    }
                }
                case CANCEL -> {
                    if (!waiting.isEmpty()) {
                        scheduler.cancel(waiting.remove(step.number() % waiting.size()), now);
                    }
                }
                case DECLINE -> {
                    if (!waiting.isEmpty()) {
                        waiting.get(step.number() % waiting.size()).wanted = false;
                    }
                }
                case RESIZE -> {
                    int permits = pool.permits() + step.number() % (2 * pool.permits());
                    scheduler.reconfigure(permits, shares, pool.settings(), now);
                }
                case LIMIT -> scheduler.limit(limit(step.number(), pool.permits()), 0, now);
                case WEIGH -> scheduler.weigh(parts(step.number(), pool), groupParts(step.number()), now);
                case RECONFIGURE -> {
                    shares = HeapAgainstScanTest.shares(step.number(), pool);
                    scheduler.reconfigure(scheduler.permits(), shares, pool.settings(), now);
                }
            }
            granted.clear();
            if (step.grants()) {
                scheduler.grant(now, request -> {
                    granted.add(((Item) request).number);
                    holding.add((Item) request);
                });
                waiting.removeIf(item -> !item.isWaiting());
            }
        }
    }

    private static final class Pair implements SeededModel.Trial<Step> {
        private final Pool pool;
        private final Side heap;
        private final Side scan;
        private int steps;
        private long now;

        Pair(Pool pool) {
            this.pool = pool;
            this.heap = new Side(pool, HeapRunQueue::new);
            this.scan = new Side(pool, ScanRunQueue::new);
        }

        @Override
        public void apply(Step step) {
            now += step.pause();
            steps++;
            heap.apply(step, pool, steps, now);
            scan.apply(step, pool, steps, now);
            if (!heap.granted.equals(scan.granted)) {
                throw new AssertionError("granted %s (expected: %s)\n%s\n%s"
                        .formatted(heap.granted, scan.granted, heap.scheduler.status(now), scan.scheduler.status(now)));
            }
            if (steps % 100 == 0) {
                assertThat(heap.scheduler.status(now)).isEqualTo(scan.scheduler.status(now));
                assertThat(heap.scheduler.status(now).accounted()).isEqualTo(heap.scheduler.permits());
                assertThat(heap.scheduler.present(now).accounted()).isEqualTo(heap.scheduler.permits());
            }
        }
    }

    /** Mostly a bound, which may be below what is reserved. */
    static int limit(int number, int permits) {
        return number % 3 == 0 ? Integer.MAX_VALUE : number % (2 * permits);
    }

    static Map<TenantId, Double> parts(int seed, Pool pool) {
        Random random = new Random(seed);
        Map<TenantId, Double> parts = new LinkedHashMap<>();
        for (int i = 0; i < pool.tenants(); i++) {
            if (random.nextInt(3) > 0) {
                parts.put(tenant(i), 1 - random.nextDouble());
            }
        }
        return parts;
    }

    static Map<String, Double> groupParts(int seed) {
        Random random = new Random(seed);
        return Map.of("g0", 1 - random.nextDouble(), "g1", 1 - random.nextDouble());
    }

    private static TenantId tenant(int index) {
        return TenantId.of("t" + index);
    }

    /** Settings for some of the tenants; together they reserve at most the pool at its smallest. */
    static TenantShares shares(int seed, Pool pool) {
        return pool.hasGroups()
                ? RandomTree.shares(seed, pool.permits(), pool.tenants())
                : RandomTree.flat(seed, pool.permits(), pool.tenants());
    }
}

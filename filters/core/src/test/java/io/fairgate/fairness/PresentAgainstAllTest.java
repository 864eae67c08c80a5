package io.fairgate.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.fairgate.shares.TenantShares;
import io.fairgate.status.PoolStatus;
import io.fairgate.status.PoolStatus.GroupStatus;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A search among the present nodes alone finds the same as a scan of all nodes, on random steps in random hierarchies: the
 * longest queue, and the status of tenants and groups.
 */
class PresentAgainstAllTest {

    private static final int LIVES = 2_000;
    private static final int STEPS = 300;

    @Test
    void the_longest_queue_and_the_status_are_those_of_a_scan() {
        new SeededModel<HeapAgainstScanTest.Step>(LIVES, STEPS)
                .check(random -> new Scene(HeapAgainstScanTest.pool(random), random.nextInt(4) == 0));
    }

    private record Scene(HeapAgainstScanTest.Pool pool, boolean hasCalculator)
            implements SeededModel.Scenario<HeapAgainstScanTest.Step> {

        @Override
        public HeapAgainstScanTest.Step operation(Random random) {
            return pool.operation(random);
        }

        @Override
        public SeededModel.Trial<HeapAgainstScanTest.Step> start() {
            return new Trial(this);
        }

        TenantShares shares(int seed) {
            TenantShares shares = HeapAgainstScanTest.shares(seed, pool);
            return hasCalculator ? shares.withCalculator((permits, active) -> Math.max(1, permits / active)) : shares;
        }
    }

    private static final class Item extends QueuedRequest {
        /** The class in which it waits, which was configured when it arrived. */
        private final String className;

        private boolean wanted = true;

        Item(HeapAgainstScanTest.Step step, TenantShares shares) {
            super(
                    TenantId.of("t" + step.tenant()),
                    step.requestClass() == 0 ? null : "c" + step.requestClass(),
                    step.number());
            className = shares.classes().containsKey("c" + step.requestClass()) ? "c" + step.requestClass() : "";
        }

        @Override
        protected boolean accept() {
            return wanted;
        }
    }

    private static final class Trial implements SeededModel.Trial<HeapAgainstScanTest.Step> {
        private final Scene scene;
        private final FairScheduler scheduler;
        private final List<Item> waiting = new ArrayList<>();
        private final List<Item> holding = new ArrayList<>();
        private TenantShares shares;
        private long now;
        private int steps;

        Trial(Scene scene) {
            this.scene = scene;
            this.shares = scene.shares(scene.pool.seed());
            this.scheduler = new FairScheduler(
                    scene.pool.permits(), shares, scene.pool.settings(), scene.pool.gain(), now, HeapRunQueue::new);
        }

        @Override
        public void apply(HeapAgainstScanTest.Step step) {
            now += step.pause();
            steps++;
            switch (step.kind()) {
                case ARRIVE -> {
                    waiting.add(new Item(step, shares));
                    scheduler.enqueue(waiting.get(waiting.size() - 1), now);
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
                    int permits = scene.pool.permits() + step.number() % (2 * scene.pool.permits());
                    scheduler.reconfigure(permits, shares, scene.pool.settings(), now);
                }
                case LIMIT -> scheduler.limit(HeapAgainstScanTest.limit(step.number(), scene.pool.permits()), 0, now);
                case WEIGH ->
                    scheduler.weigh(
                            HeapAgainstScanTest.parts(step.number(), scene.pool),
                            HeapAgainstScanTest.groupParts(step.number()),
                            now);
                case RECONFIGURE -> {
                    shares = scene.shares(step.number());
                    scheduler.reconfigure(scheduler.permits(), shares, scene.pool.settings(), now);
                }
            }
            if (step.grants()) {
                scheduler.grant(now, request -> holding.add((Item) request));
                waiting.removeIf(item -> !item.isWaiting());
            }
            checkLongestQueue();
            if (steps % 20 == 0) {
                checkStatus();
            }
        }

        // ---- the longest queue, from the waiting requests alone ----

        private void checkLongestQueue() {
            QueuedRequest newest = scheduler.overPoolBound(0);
            if (waiting.isEmpty()) {
                assertThat(newest).isNull();
                return;
            }
            Item refused = (Item) Objects.requireNonNull(newest);
            List<String> at = new ArrayList<>();
            List<Item> there = List.copyOf(waiting);
            for (String node : path(refused)) {
                Map<String, Double> lengths = lengths(there, at);
                assertThat(lengths.get(node))
                        .as("queue of %s among %s", node, lengths)
                        .isEqualTo(
                                lengths.values().stream().max(Double::compare).orElseThrow());
                at.add(node);
                there = there.stream()
                        .filter(item -> path(item).subList(0, at.size()).equals(at))
                        .toList();
            }
            assertThat(refused).isSameAs(there.get(there.size() - 1));
        }

        /** The queues per weight of the nodes below a node. */
        private Map<String, Double> lengths(List<Item> requests, List<String> below) {
            Map<String, Integer> counts = new HashMap<>();
            requests.forEach(item -> counts.merge(path(item).get(below.size()), 1, Integer::sum));
            Map<String, Double> lengths = new HashMap<>();
            counts.forEach((node, count) -> lengths.put(node, count / weight(node)));
            return lengths;
        }

        private List<String> path(Item request) {
            List<String> path = new ArrayList<>();
            path.add("class " + request.className);
            path.add(0, "tenant " + request.tenant());
            String group = shares.groups().parents().get(request.tenant());
            while (group != null) {
                path.add(0, "group " + group);
                group = Objects.requireNonNull(shares.groups().byName().get(group))
                        .parent();
            }
            return path;
        }

        private double weight(String node) {
            String name = node.substring(node.indexOf(' ') + 1);
            return node.startsWith("group")
                    ? Objects.requireNonNull(shares.groups().byName().get(name))
                            .settings()
                            .weight()
                    : node.startsWith("tenant")
                            ? shares.of(TenantId.of(name)).weight()
                            : shares.ofClass(name).weight();
        }

        // ---- the status ----

        private void checkStatus() {
            PoolStatus all = scheduler.status(now);
            PoolStatus present = scheduler.present(now);
            assertThat(present.inFlight()).isEqualTo(all.inFlight());
            Map<TenantId, TenantStatus> here = new HashMap<>();
            present.tenants().forEach(tenant -> here.put(tenant.tenant(), tenant));
            assertThat(all.tenants()).hasSizeGreaterThanOrEqualTo(here.size());
            for (TenantStatus expected : all.tenants()) {
                check(expected, here.get(expected.tenant()));
            }
            Map<String, GroupStatus> groups = new HashMap<>();
            present.groups().forEach(group -> groups.put(group.group(), group));
            for (GroupStatus expected : all.groups()) {
                GroupStatus told = groups.get(expected.group());
                boolean isActive = expected.inFlight() + expected.waiting() > 0;
                checkPresence(told, expected, isActive);
                if (told != null) {
                    assertThat(told.share()).isEqualTo(expected.share(), offset(1e-6));
                    assertThat(told.lag()).isEqualTo(expected.lag());
                }
            }
        }

        private void check(TenantStatus expected, @Nullable TenantStatus told) {
            boolean isActive = expected.inFlight() + expected.waiting() > 0;
            checkPresence(told, expected, isActive);
            TenantStanding standing = scheduler.standing(expected.tenant(), now);
            assertThat(standing.inFlight()).isEqualTo(expected.inFlight());
            assertThat(standing.waiting()).isEqualTo(expected.waiting());
            assertThat(standing.weight()).isEqualTo(expected.weight());
            assertThat(standing.share()).isEqualTo(expected.share(), offset(1e-6));
            if (told != null) {
                assertThat(told.share()).isEqualTo(expected.share(), offset(1e-6));
                assertThat(told.parent()).isEqualTo(expected.parent());
                assertThat(told.held()).isEqualTo(expected.held());
                assertThat(told.lag()).isEqualTo(expected.lag());
            }
        }

        /**
         * An active tenant is present. An idle tenant may be present if it is ahead, even by less than a nanosecond; it is not if
         * the virtual time fell only later, because others left.
         */
        private static void checkPresence(@Nullable Object told, Object expected, boolean isActive) {
            if (isActive) {
                assertThat(told).as("%s", expected).isNotNull();
            }
        }
    }
}

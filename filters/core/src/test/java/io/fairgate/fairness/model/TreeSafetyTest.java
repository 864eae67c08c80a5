package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.RandomTree;
import io.fairgate.fairness.TestRequest;
import io.fairgate.fairness.model.Step.Kind;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Properties of every grant in random hierarchies, with requests for several permits and of several classes, checked against a
 * ledger of the calls.
 */
class TreeSafetyTest {

    private static final int MOST_COLLECTIONS = 100;

    private int grants;
    /** Grants after the end of a collection, without a release. */
    private int grantsOfEndedCollections;

    @Test
    void no_grant_exceeds_the_pool_or_a_cap_or_uses_permits_reserved_for_others() {
        new SeededModel<Step>(1_000, 200).check(random -> {
            int permits = 1 + random.nextInt(12);
            return new Life(permits, 1 + random.nextInt(7), 1 + random.nextInt(permits + 1), random.nextInt());
        });
        assertThat(grants).isGreaterThan(SeededModel.partOf(20_000));
        if (SeededModel.runsMany()) {
            assertThat(grantsOfEndedCollections).isGreaterThan(SeededModel.partOf(50));
        }
    }

    private final class Life implements SeededModel.Scenario<Step> {
        private final int permits;
        private final int tenants;
        private final int mostAsked;
        private final int seed;

        Life(int permits, int tenants, int mostAsked, int seed) {
            this.permits = permits;
            this.tenants = tenants;
            this.mostAsked = mostAsked;
            this.seed = seed;
        }

        @Override
        public Step operation(Random random) {
            int dice = random.nextInt(100);
            Kind kind = dice < 45
                    ? Kind.ARRIVE
                    : dice < 83
                            ? Kind.RELEASE
                            : dice < 90
                                    ? Kind.CANCEL
                                    : dice < 93 ? Kind.DECLINE : dice < 96 ? Kind.RECONFIGURE : Kind.WAIT;
            long pause = Duration.ofMillis(random.nextInt(1_000)).toNanos();
            return new Step(kind, random.nextInt(tenants), random.nextInt(1 << 20), pause, random.nextInt(8) > 0);
        }

        @Override
        public SeededModel.Trial<Step> start() {
            return new Run(this);
        }
    }

    private final class Run implements SeededModel.Trial<Step> {
        private final Life life;
        private final FairScheduler scheduler;
        private final TreeLedger ledger;
        private final List<TestRequest> waiting = new ArrayList<>();
        private final List<TestRequest> holding;
        private long now;
        private int requests;

        Run(Life life) {
            this.life = life;
            TenantShares shares = RandomTree.shares(life.seed, life.permits, life.tenants);
            ledger = new TreeLedger(life.permits, shares);
            holding = ledger.holding;
            scheduler = new FairScheduler(life.permits, shares, FairnessSettings.USUAL, now);
        }

        @Override
        public void apply(Step step) {
            now += step.pause();
            switch (step.kind()) {
                case ARRIVE -> {
                    int kind = step.number() % 4;
                    TestRequest request = new TestRequest(
                            TenantId.of("t" + step.tenant()),
                            kind == 0 ? null : "c" + kind,
                            1 + step.number() / 4 % life.mostAsked,
                            requests++);
                    ledger.arrived(request);
                    waiting.add(request);
                    scheduler.enqueue(request, now);
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
                case RECONFIGURE -> {
                    ledger.shares = RandomTree.shares(step.number(), life.permits, life.tenants);
                    scheduler.reconfigure(life.permits, ledger.shares, FairnessSettings.USUAL, now);
                }
                default -> {}
            }
            if (step.grants()) {
                scheduler.grant(now, request -> granted((TestRequest) request));
                waiting.removeIf(request -> !request.isWaiting());
                // Otherwise permits may be collected for another request.
                if (life.mostAsked == 1) {
                    waiting.forEach(this::assertHasNoRoom);
                }
            }
        }

        /** Releases everything: then no request may wait for ever. */
        @Override
        public void end() {
            scheduler.grant(now, request -> granted((TestRequest) request));
            letCollectionsEnd();
            for (int i = 0; i < 1_000 && !holding.isEmpty(); i++) {
                now += 1_000_000;
                scheduler.release(holding.remove(0), now);
                scheduler.grant(now, request -> granted((TestRequest) request));
            }
            waiting.removeIf(request -> !request.isWaiting());
            assertThat(holding).isEmpty();
            assertThat(waiting)
                    .as("waiting although all permits were released")
                    .noneMatch(request -> isHead(request) && canEverFit(request));
            assertThat(scheduler.inFlight()).isZero();
        }

        /** Without further releases no permit stays idle for a collection, except within a guarantee. */
        private void letCollectionsEnd() {
            int before = grants;
            for (int i = 0; i < MOST_COLLECTIONS && scheduler.nextEndOfCollection() != Long.MAX_VALUE; i++) {
                now = Math.max(now, scheduler.nextEndOfCollection());
                scheduler.grant(now, request -> granted((TestRequest) request));
            }
            grantsOfEndedCollections += grants - before;
            waiting.removeIf(request -> !request.isWaiting());
            if (!ledger.guaranteesAnything()) {
                waiting.forEach(this::assertHasNoRoom);
            }
        }

        private boolean isHead(TestRequest request) {
            return waiting.stream()
                    .noneMatch(other -> other.number < request.number && ledger.isInOneQueue(other, request));
        }

        private boolean canEverFit(TestRequest request) {
            return request.permits() <= ledger.capOfClass(request)
                    && scheduler.canEverFit(request.tenant(), request.permits());
        }

        private void granted(TestRequest request) {
            grants++;
            waiting.remove(request);
            holding.add(request);
            assertThat(request.wanted).isTrue();
            assertThat(waiting)
                    .as("waiting for longer than %s", request)
                    .noneMatch(other ->
                            other.wanted && other.number < request.number && ledger.isInOneQueue(other, request));
            assertThat(ledger.exceededBy(request)).as("after %s", request).isNull();
        }

        /** A request waits only if a node above it has no room for it. */
        private void assertHasNoRoom(TestRequest request) {
            if (isHead(request) && canEverFit(request)) {
                holding.add(request);
                assertThat(ledger.exceededBy(request))
                        .as("a node without room for %s", request)
                        .isNotNull();
                holding.remove(request);
            }
        }
    }
}

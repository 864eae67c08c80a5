package io.fairgate.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.RandomTree;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.Step.Kind;
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
        assertThat(grantsOfEndedCollections).isGreaterThan(SeededModel.partOf(50));
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
        private final List<TestClaim> waiting = new ArrayList<>();
        private final List<TestClaim> holding;
        private long now;
        private int claims;

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
                    TestClaim claim = new TestClaim(
                            TenantId.of("t" + step.tenant()),
                            kind == 0 ? null : "c" + kind,
                            1 + step.number() / 4 % life.mostAsked,
                            claims++);
                    ledger.arrived(claim);
                    waiting.add(claim);
                    scheduler.enqueue(claim, now);
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
                scheduler.grant(now, claim -> granted((TestClaim) claim));
                waiting.removeIf(claim -> !claim.isWaiting());
                // Otherwise permits may be collected for another claim.
                if (life.mostAsked == 1) {
                    waiting.forEach(this::assertIsInNobodysPower);
                }
            }
        }

        /** Releases everything: then no claim may wait for ever. */
        @Override
        public void end() {
            scheduler.grant(now, claim -> granted((TestClaim) claim));
            letCollectionsEnd();
            for (int i = 0; i < 1_000 && !holding.isEmpty(); i++) {
                now += 1_000_000;
                scheduler.release(holding.remove(0), now);
                scheduler.grant(now, claim -> granted((TestClaim) claim));
            }
            waiting.removeIf(claim -> !claim.isWaiting());
            assertThat(holding).isEmpty();
            assertThat(waiting)
                    .as("waiting although all permits were released")
                    .noneMatch(claim -> isHead(claim) && canEverFit(claim));
            assertThat(scheduler.inFlight()).isZero();
        }

        /** Without further releases no permit stays idle for a collection, except within a guarantee. */
        private void letCollectionsEnd() {
            int before = grants;
            for (int i = 0; i < MOST_COLLECTIONS && scheduler.nextEndOfCollection() != Long.MAX_VALUE; i++) {
                now = Math.max(now, scheduler.nextEndOfCollection());
                scheduler.grant(now, claim -> granted((TestClaim) claim));
            }
            grantsOfEndedCollections += grants - before;
            waiting.removeIf(claim -> !claim.isWaiting());
            if (!ledger.guaranteesAnything()) {
                waiting.forEach(this::assertIsInNobodysPower);
            }
        }

        private boolean isHead(TestClaim claim) {
            return waiting.stream()
                    .noneMatch(other -> other.number < claim.number && ledger.isInOneQueue(other, claim));
        }

        private boolean canEverFit(TestClaim claim) {
            return claim.permits() <= ledger.capOfClass(claim) && scheduler.canEverFit(claim.tenant(), claim.permits());
        }

        private void granted(TestClaim claim) {
            grants++;
            waiting.remove(claim);
            holding.add(claim);
            assertThat(claim.wanted).isTrue();
            assertThat(waiting)
                    .as("waiting for longer than %s", claim)
                    .noneMatch(
                            other -> other.wanted && other.number < claim.number && ledger.isInOneQueue(other, claim));
            assertThat(ledger.exceededBy(claim)).as("after %s", claim).isNull();
        }

        /** A claim waits only if a node above it has no room for it. */
        private void assertIsInNobodysPower(TestClaim claim) {
            if (isHead(claim) && canEverFit(claim)) {
                holding.add(claim);
                assertThat(ledger.exceededBy(claim))
                        .as("a node without room for %s", claim)
                        .isNotNull();
                holding.remove(claim);
            }
        }
    }
}

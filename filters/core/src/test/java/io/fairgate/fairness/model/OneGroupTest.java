package io.fairgate.fairness.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.FairScheduler;
import io.fairgate.fairness.FairnessSettings;
import io.fairgate.fairness.RandomTree;
import io.fairgate.fairness.TestRequest;
import io.fairgate.fairness.model.Step.Kind;
import io.fairgate.shares.ShareGroups.Group;
import io.fairgate.shares.ShareSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.SeededModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * One group around all tenants changes nothing for them, and neither do two nested groups. So the checks against a naive model
 * of tenants without groups, also of large requests and their collections, hold below the top of a hierarchy as well.
 */
class OneGroupTest {

    private int grants;
    private int turns;

    @Test
    void a_group_around_all_tenants_changes_nothing() {
        new SeededModel<Step>(2_000, 150).check(random -> {
            int permits = 1 + random.nextInt(12);
            return new Life(
                    permits,
                    2 + random.nextInt(5),
                    1 + random.nextInt(permits),
                    Duration.ofMillis(100 + random.nextInt(2_000)),
                    RandomTree.settings(random),
                    random.nextInt());
        });
        assertThat(grants).as("grants compared").isGreaterThan(SeededModel.partOf(50_000));
        assertThat(turns).as("turns that ended by themselves").isGreaterThan(SeededModel.partOf(1_000));
    }

    private final class Life implements SeededModel.Scenario<Step> {
        private final int permits;
        private final int tenants;
        private final int mostAsked;
        private final Duration gain;
        private final FairnessSettings settings;
        private final int seed;

        Life(int permits, int tenants, int mostAsked, Duration gain, FairnessSettings settings, int seed) {
            this.permits = permits;
            this.tenants = tenants;
            this.mostAsked = mostAsked;
            this.gain = gain;
            this.settings = settings;
            this.seed = seed;
        }

        @Override
        public Step operation(Random random) {
            int dice = random.nextInt(100);
            Kind kind = dice < 45 ? Kind.ARRIVE : dice < 75 ? Kind.RELEASE : dice < 82 ? Kind.CANCEL : Kind.WAIT;
            long pause = random.nextInt(5) < 2
                    ? 0
                    : Duration.ofMillis(1 + random.nextInt(1_000)).toNanos();
            return new Step(kind, random.nextInt(tenants), random.nextInt(1 << 20), pause, true);
        }

        @Override
        public SeededModel.Trial<Step> start() {
            TenantShares flat = TenantShares.EQUAL;
            TenantShares grouped = TenantShares.EQUAL
                    .withGroup("all", Group.of(ShareSettings.EQUAL))
                    .withGroup("most", new Group(ShareSettings.EQUAL, "all"));
            Random random = new Random(seed);
            String group = random.nextBoolean() ? "all" : "most";
            for (int i = 0; i < tenants; i++) {
                ShareSettings settings = ShareSettings.ofWeight(1 + random.nextInt(3));
                if (random.nextInt(3) == 0) {
                    settings = settings.withMaxInFlight(1 + random.nextInt(permits));
                }
                flat = flat.withMember(TenantId.of("t" + i), settings);
                grouped = grouped.withMember(TenantId.of("t" + i), settings, group);
            }
            return new Run(this, flat, grouped);
        }
    }

    /** The same run in two schedulers, with each request in both. */
    private final class Run implements SeededModel.Trial<Step> {
        private final Life life;
        private final FairScheduler flat;
        private final FairScheduler grouped;
        private final List<TestRequest> waitingInFlat = new ArrayList<>();
        private final List<TestRequest> waitingInGroup = new ArrayList<>();
        private final List<TestRequest> heldInFlat = new ArrayList<>();
        private final List<TestRequest> heldInGroup = new ArrayList<>();
        private long now;
        private int requests;

        Run(Life life, TenantShares flat, TenantShares grouped) {
            this.life = life;
            this.flat = new FairScheduler(life.permits, flat, life.settings, life.gain, now);
            this.grouped = new FairScheduler(life.permits, grouped, life.settings, life.gain, now);
        }

        @Override
        public void apply(Step step) {
            turnsUntil(now + step.pause());
            switch (step.kind()) {
                case ARRIVE -> {
                    int permits = 1 + step.number() % life.mostAsked;
                    ask(flat, waitingInFlat, step.tenant(), permits);
                    ask(grouped, waitingInGroup, step.tenant(), permits);
                    requests++;
                }
                case RELEASE -> {
                    if (!heldInFlat.isEmpty()) {
                        int number = step.number() % heldInFlat.size();
                        flat.release(heldInFlat.remove(number), now);
                        grouped.release(heldInGroup.remove(number), now);
                    }
                }
                case CANCEL -> {
                    if (!waitingInFlat.isEmpty()) {
                        int number = step.number() % waitingInFlat.size();
                        flat.cancel(waitingInFlat.remove(number), now);
                        grouped.cancel(waitingInGroup.remove(number), now);
                    }
                }
                default -> {}
            }
            grant();
        }

        private void ask(FairScheduler scheduler, List<TestRequest> waiting, int tenant, int permits) {
            TestRequest request = new TestRequest(TenantId.of("t" + tenant), permits, requests);
            waiting.add(request);
            scheduler.enqueue(request, now);
        }

        private void turnsUntil(long then) {
            for (long next = flat.nextEndOfCollection(); next <= then; next = flat.nextEndOfCollection()) {
                now = Math.max(now, next);
                turns++;
                grant();
            }
            now = then;
        }

        private void grant() {
            List<String> inFlat = granted(flat, waitingInFlat, heldInFlat);
            List<String> inGroup = granted(grouped, waitingInGroup, heldInGroup);
            assertThat(inGroup).as("at %d ns", now).isEqualTo(inFlat);
            assertThat(grouped.nextEndOfCollection()).as("end of the turn").isEqualTo(flat.nextEndOfCollection());
            assertThat(flat.nextEndOfCollection()).isGreaterThan(now);
            grants += inFlat.size();
        }

        private List<String> granted(FairScheduler scheduler, List<TestRequest> waiting, List<TestRequest> held) {
            List<String> granted = new ArrayList<>();
            scheduler.grant(now, request -> {
                waiting.remove((TestRequest) request);
                held.add((TestRequest) request);
                granted.add(request.toString());
            });
            return granted;
        }
    }
}

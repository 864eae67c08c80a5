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

class TreeModelTest {

    private final List<TreeModel> models = new ArrayList<>();

    @Test
    void at_each_node_every_grant_takes_the_child_of_a_naive_model() {
        new SeededModel<Step>(1_000, 200).check(random -> {
            int permits = 1 + random.nextInt(12);
            return new Life(
                    permits,
                    1 + random.nextInt(7),
                    random.nextInt(),
                    Duration.ofMillis(100 + random.nextInt(5_000)),
                    RandomTree.settings(random),
                    random);
        });
        assertThat(models.stream().mapToInt(model -> model.grants).sum())
                .as("grants compared")
                .isGreaterThan(SeededModel.partOf(25_000));
        assertThat(models.stream().mapToInt(model -> model.choices).sum())
                .as("choices between several")
                .isGreaterThan(SeededModel.partOf(15_000));
    }

    private final class Life implements SeededModel.Scenario<Step> {
        private final int permits;
        private final int tenants;
        private final int seed;
        private final Duration gain;
        private final FairnessSettings settings;
        private final RandomHolds holds;

        Life(int permits, int tenants, int seed, Duration gain, FairnessSettings settings, Random random) {
            this.permits = permits;
            this.tenants = tenants;
            this.seed = seed;
            this.gain = gain;
            this.settings = settings;
            this.holds = RandomHolds.draw(random, tenants);
        }

        @Override
        public Step operation(Random random) {
            return holds.endByThemselves() ? timed(random) : untimed(random);
        }

        private Step timed(Random random) {
            int dice = random.nextInt(100);
            Kind kind = dice < 80
                    ? Kind.ARRIVE
                    : dice < 84 ? Kind.RELEASE : dice < 92 ? Kind.CANCEL : dice < 94 ? Kind.RECONFIGURE : Kind.WAIT;
            int tenant = random.nextInt(tenants);
            long hold = holds.next(tenant, random);
            return new Step(kind, tenant, random.nextInt(1 << 20), RandomHolds.pause(random), true, hold);
        }

        private Step untimed(Random random) {
            int dice = random.nextInt(100);
            Kind kind = dice < 50
                    ? Kind.ARRIVE
                    : dice < 85 ? Kind.RELEASE : dice < 92 ? Kind.CANCEL : dice < 95 ? Kind.RECONFIGURE : Kind.WAIT;
            long pause = random.nextInt(5) < 2
                    ? 0
                    : Duration.ofMillis(1 + random.nextInt(1_000)).toNanos();
            return new Step(kind, random.nextInt(tenants), random.nextInt(1 << 20), pause, true);
        }

        @Override
        public SeededModel.Trial<Step> start() {
            return new Run(this);
        }

        /** Only members: the model does not know tenants that the scheduler may forget. */
        TenantShares shares(int seed) {
            TenantShares shares = RandomTree.moderate(seed, permits, tenants);
            for (int i = 0; i < tenants; i++) {
                TenantId id = TenantId.of("t" + i);
                shares = shares.members().containsKey(id) ? shares : shares.withMember(id, shares.others());
            }
            return shares;
        }
    }

    private final class Run implements SeededModel.Trial<Step> {
        private final Life life;
        private final FairScheduler scheduler;
        private final TreeModel model;
        private final List<TestRequest> waiting = new ArrayList<>();
        private final List<TestRequest> holding = new ArrayList<>();
        private long now;

        Run(Life life) {
            this.life = life;
            TenantShares shares = life.shares(life.seed);
            scheduler = new FairScheduler(life.permits, shares, life.settings, life.gain, now);
            model = new TreeModel(
                    life.permits,
                    shares,
                    life.gain.toNanos(),
                    life.settings.memory().toNanos());
            models.add(model);
        }

        @Override
        public void apply(Step step) {
            passUntil(now + step.pause());
            switch (step.kind()) {
                case ARRIVE -> {
                    TestRequest request = TestRequest.of("t" + step.tenant(), 1).holdingFor(step.hold());
                    waiting.add(request);
                    scheduler.enqueue(request, now);
                    model.arrived(request.tenant());
                }
                case RELEASE -> {
                    if (!holding.isEmpty()) {
                        release(holding.get(step.number() % holding.size()));
                    }
                }
                case CANCEL -> {
                    if (!waiting.isEmpty()) {
                        TestRequest request = waiting.remove(step.number() % waiting.size());
                        scheduler.cancel(request, now);
                        model.cancelled(request.tenant());
                    }
                }
                case RECONFIGURE -> {
                    TenantShares shares = life.shares(step.number());
                    scheduler.reconfigure(life.permits, shares, life.settings, now);
                    model.reconfigured(shares);
                }
                default -> {}
            }
            grant();
        }

        private void passUntil(long until) {
            for (TestRequest next = TestRequest.endsFirst(holding);
                    next != null && next.endsAt <= until;
                    next = TestRequest.endsFirst(holding)) {
                pass(next.endsAt - now);
                release(next);
                grant();
            }
            pass(until - now);
        }

        private void pass(long nanos) {
            now += nanos;
            model.passed(nanos);
        }

        private void release(TestRequest request) {
            holding.remove(request);
            scheduler.release(request, now);
            model.released(request.tenant());
        }

        private void grant() {
            scheduler.grant(now, request -> {
                TestRequest granted = (TestRequest) request;
                waiting.remove(granted);
                holding.add(granted);
                granted.granted(now);
                model.granted(granted.tenant());
            });
            model.handedOut(scheduler.status(now));
        }
    }
}

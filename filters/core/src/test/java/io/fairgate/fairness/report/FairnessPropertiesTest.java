package io.fairgate.fairness.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.shares.TenantShares;
import io.fairgate.testkit.EventLog;
import io.fairgate.testkit.EventLog.Event;
import io.fairgate.testkit.EventLog.Kind;
import io.fairgate.testkit.FairnessBound;
import io.fairgate.testkit.Holds;
import io.fairgate.testkit.Load;
import io.fairgate.testkit.SeededModel;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.time.Duration;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Properties over time, in simulations; all figures are computed from the event logs. */
class FairnessPropertiesTest {

    private static final int SCENARIOS = SeededModel.partOf(160);

    /** The settings of a gateway, or an unlimited memory. */
    private static FairnessSettings settings(int seed) {
        return seed % 4 < 2 ? FairnessSettings.USUAL : RandomWorkload.NEVER_FORGETS;
    }

    @Test
    void p3_backlogged_tenants_share_permit_time_by_weight_within_the_bound() {
        FairnessBound worst = PermitTimeBound.worst(SCENARIOS);

        assertThat(worst.ratio()).as("%s", worst).isBetween(0.1, 1.0);
    }

    @Test
    void p3_holds_with_the_default_memory_if_it_covers_the_longest_hold() {
        FairnessBound worst = PermitTimeBound.worstAsShipped(SCENARIOS);

        assertThat(worst.ratio()).as("%s", worst).isBetween(0.1, 1.0);
    }

    /**
     * A grant to a tenant means that no key is smaller. Weighted and summed up, this is {@code inFlight <= share + lag / H}, not
     * counting the permits of the grant itself.
     */
    @Test
    void p4_after_a_grant_a_tenant_holds_at_most_its_share_and_its_lag() {
        for (int seed = 0; seed < SCENARIOS; seed++) {
            Workload workload = new RandomWorkload(seed, 1).backlogged(settings(seed));
            EventLog log = Simulation.run(workload);
            if (!PermitTimeBound.remembers(log)) {
                continue;
            }
            double[] shares = shares(workload);
            int n = shares.length;
            double[] used = new double[n];
            int[] inFlight = new int[n];
            long since = 0;
            for (Event event : log.events()) {
                for (int i = 0; i < n; i++) {
                    used[i] += (double) inFlight[i] * (event.at() - since);
                }
                since = event.at();
                int tenant = event.tenant();
                double lag = DoubleStream.of(used).sum() * shares[tenant] / workload.permits() - used[tenant];
                double allowed = shares[tenant] + lag / workload.gain().toNanos();
                if (event.kind() == Kind.GRANTED && inFlight[tenant] > allowed + 1e-6) {
                    fail("%s held %d, allowed %s, in %s", event, inFlight[tenant], allowed, workload);
                }
                inFlight[tenant] += event.kind() == Kind.GRANTED ? 1 : event.kind() == Kind.RELEASED ? -1 : 0;
            }
        }
    }

    @Test
    void p5_a_joining_tenant_gets_every_released_permit_until_it_holds_its_share() {
        Duration joins = Duration.ofSeconds(100);
        for (int seed = 0; seed < SCENARIOS; seed++) {
            Workload workload = new RandomWorkload(seed, 1).joinedAt(joins);
            JoinWatch watch = new JoinWatch(workload, joins);
            OccupancyWatch.afterEveryGrant(Simulation.run(workload), watch);
            assertThat(watch.passedOver).as("passed over in %s", workload).isZero();
        }
    }

    /** Counts grants to others while the joiner was behind each of them by more than a permit on both sides. */
    private static final class JoinWatch implements OccupancyWatch {
        private final Duration joins;
        private final int joiner;
        private final double[] weights;
        private boolean caughtUp;
        private int passedOver;

        JoinWatch(Workload workload, Duration joins) {
            this.joins = joins;
            this.joiner = workload.tenants().size() - 1;
            this.weights = IntStream.rangeClosed(0, joiner)
                    .mapToDouble(workload::weightOf)
                    .toArray();
        }

        @Override
        public void granted(Event event, int[] inFlight) {
            if (event.at() < joins.toNanos() || caughtUp) {
                return;
            }
            double own = (inFlight[joiner] + 1) / weights[joiner];
            for (int i = 0; i < joiner; i++) {
                int before = inFlight[i] - (event.tenant() == i ? event.permits() : 0);
                caughtUp |= own > (before - 1) / weights[i];
            }
            passedOver += caughtUp || event.tenant() == joiner ? 0 : 1;
        }
    }

    /** A tenant that is ahead ({@link FairnessBound}) pays that back at the rate of its share. */
    @Test
    void p6_the_first_request_of_a_tenant_within_its_share_waits_at_most_the_bound() {
        double worst = 0;
        for (int seed = 0; seed < SCENARIOS; seed++) {
            Workload workload = new RandomWorkload(seed, 1).backlogged(settings(seed));
            EventLog log = Simulation.run(workload);
            double reach = workload.gain().toNanos() + log.longestHoldNanos();
            double smallest = DoubleStream.of(shares(workload)).min().orElseThrow();
            double bound = 2 * reach * (1 + 1 / smallest);
            worst = Math.max(worst, longestWaitWithinShare(log) / bound);
        }
        assertThat(worst).isBetween(0.1, 1.0);
    }

    /** The longest time in which a tenant waited and held no more than its share, without a grant. */
    private static long longestWaitWithinShare(EventLog log) {
        long longest = 0;
        Workload workload = log.workload();
        long[] since = new long[workload.tenants().size()];
        int[] inFlight = new int[since.length];
        double[] shares = shares(workload);
        for (Event event : log.events()) {
            int tenant = event.tenant();
            double share = shares[tenant];
            if (event.kind() == Kind.GRANTED) {
                longest = inFlight[tenant] <= share ? Math.max(longest, event.at() - since[tenant]) : longest;
                inFlight[tenant] += event.permits();
                since[tenant] = event.at();
            } else if (event.kind() == Kind.RELEASED) {
                since[tenant] = inFlight[tenant] > share ? event.at() : since[tenant];
                inFlight[tenant] -= event.permits();
            }
        }
        return longest;
    }

    @Test
    void p7_idle_time_creates_no_credit() {
        Holds holds = Holds.exponential(Duration.ofSeconds(1));
        for (int seed = 0; seed < 20; seed++) {
            fairAfterwards(seed, Load.of("a", 30, holds).until(Duration.ofSeconds(100)), Load.of("b", 30, holds));
        }
    }

    @Test
    void p7_little_demand_creates_no_credit() {
        Holds holds = Holds.exponential(Duration.ofSeconds(1));
        for (int seed = 0; seed < 20; seed++) {
            Load little = Load.of("a", 1 + seed % 4, holds).until(Duration.ofSeconds(1_000));
            fairAfterwards(seed, little, Load.of("b", 30, holds));
        }
    }

    @Test
    void p7_use_of_an_uncontended_pool_creates_no_debt() {
        Holds holds = Holds.exponential(Duration.ofSeconds(1));
        for (int seed = 0; seed < 20; seed++) {
            Load solo = Load.of("a", 10, holds).until(Duration.ofSeconds(1_000));
            fairAfterwards(seed, solo, Load.of("b", 30, holds).from(Duration.ofSeconds(1_000)));
        }
    }

    /** From 1000 s on, when all wait, both get a half at once, independent of the time before. */
    private static void fairAfterwards(long seed, Load before, Load other) {
        Duration from = Duration.ofSeconds(1_000);
        Load after = Load.of("a", 30, before.holds()).from(from);
        Workload workload = Workload.of(10, TenantShares.EQUAL, Duration.ofSeconds(1_300), seed, before, other, after)
                .withGain(Duration.ofSeconds(2))
                .withSettings(RandomWorkload.NEVER_FORGETS);
        EventLog log = Simulation.run(workload);
        for (int seconds = 20; seconds <= 300; seconds += 20) {
            assertThat(log.share(0, from, from.plusSeconds(seconds)))
                    .as("share of the first %d s, seed %d", seconds, seed)
                    .isBetween(0.5 - 2.0 / seconds, 0.5 + 2.0 / seconds);
        }
        assertThat(FairnessBound.worstOf(log).ratio()).isLessThanOrEqualTo(1);
    }

    /** Permits that each tenant is entitled to while all are backlogged. */
    private static double[] shares(Workload workload) {
        double[] weights = IntStream.range(0, workload.tenants().size())
                .mapToDouble(workload::weightOf)
                .toArray();
        double sum = DoubleStream.of(weights).sum();
        return DoubleStream.of(weights)
                .map(weight -> weight * workload.permits() / sum)
                .toArray();
    }
}

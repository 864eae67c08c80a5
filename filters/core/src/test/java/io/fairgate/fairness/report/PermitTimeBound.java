package io.fairgate.fairness.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.fairness.FairnessSettings;
import io.fairgate.testkit.EventLog;
import io.fairgate.testkit.FairnessBound;
import io.fairgate.testkit.Simulation;
import io.fairgate.testkit.Workload;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** The bound on permit-time over random workloads, for its test and for the report. */
final class PermitTimeBound {

    private PermitTimeBound() {}

    /** The pair that came closest to the bound with an unlimited memory; in half of the workloads tenants come and go. */
    static FairnessBound worst(int scenarios) {
        FairnessBound worst = new FairnessBound(0, 1);
        for (int seed = 0; seed < scenarios; seed++) {
            worst = worst.orWorse(FairnessBound.worstOf(Simulation.run(workload(seed, RandomWorkload.NEVER_FORGETS))));
        }
        return worst;
    }

    /** The same with the settings of a gateway, for the workloads whose longest hold it remembers to the end. */
    static FairnessBound worstAsShipped(int scenarios) {
        FairnessBound worst = new FairnessBound(0, 1);
        int remembered = 0;
        for (int seed = 0; seed < scenarios; seed++) {
            EventLog log = Simulation.run(workload(seed, FairnessSettings.USUAL));
            if (remembers(log)) {
                remembered++;
                worst = worst.orWorse(FairnessBound.worstOf(log));
            }
        }
        assertThat(remembered).as("workloads whose longest hold is remembered").isGreaterThan(scenarios / 2);
        return worst;
    }

    private static Workload workload(int seed, FairnessSettings settings) {
        RandomWorkload random = new RandomWorkload(seed);
        return seed % 2 == 0 ? random.backlogged(settings) : random.comingAndGoing(settings);
    }

    /** A debt of one hold takes {@code hold * W / (w * N)} to work off. */
    static boolean remembers(EventLog log) {
        Workload workload = log.workload();
        double[] weights = IntStream.range(0, workload.tenants().size())
                .mapToDouble(workload::weightOf)
                .toArray();
        double least = DoubleStream.of(weights).min().orElseThrow();
        double longest = log.longestHoldNanos() * DoubleStream.of(weights).sum() / least / workload.permits();
        return longest <= workload.settings().memory().toNanos();
    }
}

package io.fairgate.testkit;

/** The bound on permit-time over random workloads, for its test and for the report. */
final class PermitTimeBound {

    private PermitTimeBound() {}

    /** The pair that came closest to the bound; half of the workloads have tenants that come and go. */
    static FairnessBound worst(int scenarios) {
        FairnessBound worst = new FairnessBound(0, 1);
        for (int seed = 0; seed < scenarios; seed++) {
            RandomWorkload random = new RandomWorkload(seed);
            Workload workload = seed % 2 == 0
                    ? random.backlogged(RandomWorkload.NEVER_FORGETS)
                    : random.comingAndGoing(RandomWorkload.NEVER_FORGETS);
            worst = worst.orWorse(FairnessBound.worstOf(Simulation.run(workload)));
        }
        return worst;
    }
}

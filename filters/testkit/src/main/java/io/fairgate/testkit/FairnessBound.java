package io.fairgate.testkit;

import io.fairgate.testkit.EventLog.Span;

/**
 * How far two tenants drifted apart in permit-time per weight while both were backlogged, and how far they may:
 *
 * <pre>{@code |dS_f/w_f - dS_g/w_g| <= (H + k * D) * (U_f/w_f + U_g/w_g)}</pre>
 *
 * with the gain H, the longest hold D, the most permits U that each has held until then, and k = 1 if every request asks for
 * one permit, else 2, because permits may have to be collected for a large request. Permits that a tenant held before both were
 * backlogged count too: it may have a debt, which it pays back while the other is served. This is the bound of SFQ(D) (Jin,
 * Chase, Kaur, 2004), for a fixed gain, an unlimited memory, and no caps or guarantees. It applies to tenants whose requests
 * ask for one permit each: permits collected for a large request are charged to its tenant, but are not in the events.
 *
 * @param observed the largest drift, in seconds per weight, of the pair and time that came closest to the bound
 * @param allowed the bound of that pair and time
 */
public record FairnessBound(double observed, double allowed) {

    private static final FairnessBound NONE = new FairnessBound(0, 1);

    /** Above 1 the bound is broken. */
    public double ratio() {
        return observed / allowed;
    }

    public FairnessBound orWorse(FairnessBound other) {
        return other.ratio() > ratio() ? other : this;
    }

    /** The worst bound of all pairs of tenants in a log, over all times in which both were backlogged throughout. */
    public static FairnessBound worstOf(EventLog log) {
        boolean single = log.workload().loads().stream().allMatch(load -> load.permits() == 1);
        double reach = log.workload().gain().toNanos() + (single ? 1.0 : 2.0) * log.longestHoldNanos();
        FairnessBound worst = NONE;
        for (int f = 0; f < log.workload().tenants().size(); f++) {
            for (int g = 0; g < f; g++) {
                if (asksForOne(log.workload(), f) && asksForOne(log.workload(), g)) {
                    worst = worst.orWorse(new Pair(log, f, g).worst(reach));
                }
            }
        }
        return worst;
    }

    private static boolean asksForOne(Workload workload, int tenant) {
        return workload.loads().stream()
                .filter(load -> load.tenant().equals(workload.tenants().get(tenant)))
                .allMatch(load -> load.permits() == 1);
    }

    /** Two tenants. Their drift is the distance between the extremes of the running difference of their permit-time. */
    private static final class Pair {
        private final EventLog log;
        private final int f;
        private final int g;
        private final double weightF;
        private final double weightG;

        private double drift;
        private double least;
        private double most;
        private int mostF;
        private int mostG;

        Pair(EventLog log, int f, int g) {
            this.log = log;
            this.f = f;
            this.g = g;
            this.weightF = log.workload().weightOf(f);
            this.weightG = log.workload().weightOf(g);
        }

        FairnessBound worst(double reach) {
            FairnessBound worst = NONE;
            for (Span span : log.spans()) {
                mostF = Math.max(mostF, span.inFlight()[f]);
                mostG = Math.max(mostG, span.inFlight()[g]);
                if (span.waiting()[f] == 0 || span.waiting()[g] == 0) {
                    worst = worst.orWorse(bound(reach));
                    drift = least = most = 0;
                } else {
                    drift += span.nanos() * (span.inFlight()[f] / weightF - span.inFlight()[g] / weightG);
                    least = Math.min(least, drift);
                    most = Math.max(most, drift);
                }
            }
            return worst.orWorse(bound(reach));
        }

        private FairnessBound bound(double reach) {
            double allowed = reach * (mostF / weightF + mostG / weightG);
            return allowed == 0 ? NONE : new FairnessBound((most - least) / 1e9, allowed / 1e9);
        }
    }
}

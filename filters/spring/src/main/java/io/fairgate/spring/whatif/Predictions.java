package io.fairgate.spring.whatif;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.replay.Recording;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.TenantUse;
import io.fairgate.replay.TooManyRequestsException;
import io.fairgate.replay.WhatIf;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.whatif.Prediction.PoolPrediction;
import io.fairgate.spring.whatif.Prediction.TenantPrediction;
import io.fairgate.spring.whatif.Prediction.Use;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Replays the latest requests of all pools under the policy in force and under another one. Changes nothing. */
public final class Predictions {

    /** Tenants that are shown of each pool. */
    static final int TENANTS = 100;

    private final PermitPools pools;
    private final Recordings recordings;
    private final PolicyHolder policy;

    public Predictions(PermitPools pools, Recordings recordings, PolicyHolder policy) {
        this.pools = pools;
        this.recordings = recordings;
        this.policy = policy;
    }

    /** Blocks for as long as the replays take, which can be seconds. */
    public Prediction under(Policy candidate, Duration latest) {
        List<PoolPrediction> predicted = new ArrayList<>();
        List<String> notReplayed = new ArrayList<>();
        for (PermitPool pool : pools.all()) {
            Recording recording = recordings.of(pool.name());
            PoolSettings settings = pools.settingsUnder(candidate, pool.name());
            String reason = reasonAgainst(pool, recording, settings);
            if (reason != null || recording == null || settings == null) {
                notReplayed.add(reason);
                continue;
            }
            try {
                Recorded recorded = recording.read(latest);
                predicted.add(prediction(pool, recorded, new Rules(settings, candidate.shares())));
            } catch (TooManyRequestsException | IllegalArgumentException e) {
                notReplayed.add("pool %s: %s".formatted(pool.name(), e.getMessage()));
            }
        }
        return new Prediction(predicted, notReplayed);
    }

    private static @Nullable String reasonAgainst(
            PermitPool pool, @Nullable Recording recording, @Nullable PoolSettings settings) {
        if (recording == null) {
            return "pool %s: nothing is recorded (expected: fairgate.what-if.requests of 1 or more)"
                    .formatted(pool.name());
        } else if (settings == null) {
            return "pool %s: the candidate does not have it".formatted(pool.name());
        } else if (pool.slice() != null) {
            return "pool %s: several gateways share it, and each records only its own requests".formatted(pool.name());
        }
        return null;
    }

    private PoolPrediction prediction(PermitPool pool, Recorded recorded, Rules candidate) {
        Rules inForce = new Rules(pool.settings(), policy.current().shares());
        List<Comparison> all = WhatIf.compare(recorded, inForce, candidate);
        Shown shown = new Shown(
                sum(all, Comparison::recorded), sum(all, Comparison::inForce), sum(all, Comparison::candidate));
        return new PoolPrediction(
                pool.name(),
                rounded((recorded.to() - recorded.from()) / 1e9),
                all.stream().mapToLong(one -> one.recorded().requests()).sum(),
                inForce.pool().permits(),
                candidate.pool().permits(),
                all.stream()
                        .sorted(Comparator.comparingDouble(Predictions::mostUsed)
                                .reversed())
                        .limit(TENANTS)
                        .map(shown::tenant)
                        .toList(),
                Math.max(0, all.size() - TENANTS));
    }

    private static double sum(List<Comparison> all, Function<Comparison, TenantUse> which) {
        return all.stream().mapToDouble(one -> which.apply(one).permitSeconds()).sum();
    }

    private static double mostUsed(Comparison one) {
        return Math.max(one.recorded().permitSeconds(), one.candidate().permitSeconds());
    }

    /** Tenants as they are shown, beside the permit-time of all. */
    private record Shown(double recorded, double inForce, double candidate) {

        TenantPrediction tenant(Comparison one) {
            return new TenantPrediction(
                    one.tenant().value(),
                    one.followsAnswers(),
                    use(one.recorded(), recorded),
                    use(one.inForce(), inForce),
                    use(one.candidate(), candidate));
        }

        private static Use use(TenantUse use, double all) {
            Map<String, Long> refused = new TreeMap<>();
            use.refused().forEach((reason, count) -> refused.put(reason.label(), count));
            return new Use(
                    use.requests(),
                    use.granted(),
                    use.left(),
                    refused,
                    rounded(use.permitSeconds()),
                    all == 0 ? 0 : rounded(use.permitSeconds() / all),
                    rounded(use.waitP50().toNanos() / 1e9),
                    rounded(use.waitP99().toNanos() / 1e9));
        }
    }

    /** To thousandths. */
    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }
}

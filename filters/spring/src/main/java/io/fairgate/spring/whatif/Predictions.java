package io.fairgate.spring.whatif;

import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.Policy;
import io.fairgate.replay.Recording;
import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.TooManyRequestsException;
import io.fairgate.replay.WhatIf;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.replay.WhatIf.Rules;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.Recordings;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.whatif.Prediction.PoolPrediction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
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

    /** Blocks for as long as the replays take, which can be some seconds for each pool. */
    public Prediction under(Policy candidate, Duration latest) {
        Policy current = policy.current();
        List<PoolPrediction> predicted = new ArrayList<>();
        List<String> notReplayed = new ArrayList<>();
        for (PermitPool pool : pools.all()) {
            Recording recording = recordings.of(pool.name());
            PoolSettings settings = pools.settingsUnder(candidate, pool.name());
            String reason = reasonAgainst(pool, current, candidate);
            if (reason == null && recording != null && settings != null) {
                try {
                    Rules inForce = new Rules(pool.settings(), current.shares());
                    Rules other = new Rules(settings, candidate.shares());
                    predicted.add(prediction(pool.name(), recording.read(latest), inForce, other, candidate));
                } catch (TooManyRequestsException e) {
                    reason = e.getMessage();
                }
            }
            if (reason != null) {
                notReplayed.add("pool %s: %s".formatted(pool.name(), reason));
            }
        }
        return new Prediction(predicted, notReplayed, PredictionNotes.of(current, candidate));
    }

    private @Nullable String reasonAgainst(PermitPool pool, Policy current, Policy candidate) {
        PoolSettings settings = pools.settingsUnder(candidate, pool.name());
        if (recordings.of(pool.name()) == null) {
            return "nothing is recorded (expected: fairgate.what-if.requests of 1 or more)";
        } else if (settings == null) {
            return "the candidate does not have it";
        } else if (pool.slice() != null) {
            return "several gateways share it, and each records only its own requests";
        } else if (!current.enforcement().isOn(pool.name())) {
            return "it is in a dry run (enforce: false), so its requests do not wait as they would";
        } else if (!candidate.enforcement().isOn(pool.name())) {
            return "the candidate does not enforce it";
        } else if (candidate.shares().reserved() > settings.permits()) {
            return "its size of now, %d, is less than the %d permits that the candidate reserves"
                    .formatted(settings.permits(), candidate.shares().reserved());
        }
        return null;
    }

    private static PoolPrediction prediction(
            String pool, Recorded recorded, Rules inForce, Rules candidate, Policy policy) {
        List<Comparison> all = WhatIf.compare(recorded, inForce, candidate);
        List<Comparison> shown = mostRelevant(all);
        PredictedUses uses = PredictedUses.of(all, recorded);
        return new PoolPrediction(
                pool,
                uses.seconds(),
                all.stream().mapToLong(one -> one.recorded().requests()).sum(),
                inForce.pool().permits(),
                candidate.pool().permits(),
                PredictionNotes.of(recorded, all, policy),
                shown.stream().map(uses::tenant).toList(),
                all.size() - shown.size());
    }

    /** Half of them are those that use most; the others are those whose waits grow most, which may use little. */
    static List<Comparison> mostRelevant(List<Comparison> all) {
        Stream<Comparison> most = all.stream()
                .sorted(Comparator.comparingDouble(Predictions::mostUsed).reversed())
                .limit(TENANTS / 2);
        Stream<Comparison> worst = all.stream()
                .sorted(Comparator.comparing(Predictions::longerWait).reversed());
        Set<Comparison> shown = new LinkedHashSet<>();
        Stream.concat(most, worst).takeWhile(one -> shown.size() < TENANTS).forEach(shown::add);
        return List.copyOf(shown);
    }

    private static double mostUsed(Comparison one) {
        return Math.max(one.recorded().permitSeconds(), one.candidate().permitSeconds());
    }

    private static Duration longerWait(Comparison one) {
        return one.candidate().waitP99().minus(one.inForce().waitP99());
    }
}

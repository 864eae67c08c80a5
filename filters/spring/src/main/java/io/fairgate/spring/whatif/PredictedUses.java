package io.fairgate.spring.whatif;

import io.fairgate.replay.Recording.Recorded;
import io.fairgate.replay.TenantUse;
import io.fairgate.replay.WhatIf.Comparison;
import io.fairgate.spring.whatif.Prediction.TenantPrediction;
import io.fairgate.spring.whatif.Prediction.Use;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/**
 * Tenants as they are shown, beside the permit-time of all of them.
 *
 * @param seconds how long the recording is
 */
record PredictedUses(double seconds, double recorded, double inForce, double candidate, double otherwise) {

    static PredictedUses of(List<Comparison> all, Recorded recorded) {
        return new PredictedUses(
                rounded((recorded.to() - recorded.from()) / 1e9),
                sum(all, one -> one.recorded().permitSeconds()),
                sum(all, one -> one.inForce().permitSeconds()),
                sum(all, one -> one.candidate().permitSeconds()),
                sum(all, one -> one.otherwise() == null ? 0 : one.otherwise().permitSeconds()));
    }

    private static double sum(List<Comparison> all, ToDoubleFunction<Comparison> which) {
        return all.stream().mapToDouble(which).sum();
    }

    TenantPrediction tenant(Comparison one) {
        TenantUse other = one.otherwise();
        return new TenantPrediction(
                one.tenant().value(),
                one.clients().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                use(one.recorded(), recorded),
                use(one.inForce(), inForce),
                use(one.candidate(), candidate),
                other == null ? null : use(other, otherwise));
    }

    private Use use(TenantUse use, double all) {
        Map<String, Long> refused = new TreeMap<>();
        use.refused().forEach((reason, count) -> refused.put(reason.label(), count));
        return new Use(
                use.requests(),
                use.granted(),
                use.left(),
                use.waiting(),
                refused,
                seconds == 0 ? 0 : rounded(use.permitSeconds() / seconds),
                rounded(use.permitSeconds()),
                all == 0 ? 0 : rounded(use.permitSeconds() / all),
                rounded(use.waitP50().toNanos() / 1e9),
                rounded(use.waitP99().toNanos() / 1e9));
    }

    /** To thousandths. */
    private static double rounded(double value) {
        return Math.round(value * 1e3) / 1e3;
    }
}

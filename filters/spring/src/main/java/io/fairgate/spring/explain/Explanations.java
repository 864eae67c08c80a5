package io.fairgate.spring.explain;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import reactor.core.publisher.Mono;

/** Explains decisions: what the pool was like while the request waited, and who held its permits. */
public final class Explanations {

    private final UsageHistory history;
    private final UsageSampler sampler;

    public Explanations(UsageHistory history, UsageSampler sampler) {
        this.history = history;
        this.sampler = sampler;
    }

    /** Empty for a decision without a pool, and for one that is older than what is kept. Takes a tenth of a second. */
    public Mono<Explanation> of(Decision decision) {
        String pool = decision.pool();
        if (pool == null) {
            return Mono.empty();
        }
        long to = decision.waitEndedNanos();
        long from = to - Math.round(1e9 * decision.waitedSeconds());
        return sampler.sampleSoon().then(Mono.fromSupplier(() -> history.explain(pool, decision.tenant(), from, to)));
    }
}

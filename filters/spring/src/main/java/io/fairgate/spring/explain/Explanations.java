package io.fairgate.spring.explain;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import java.time.Duration;
import java.time.Instant;
import reactor.core.publisher.Mono;

/** Explains decisions: what the pool was like while the request waited, and who held its permits. */
public final class Explanations {

    private final UsageHistory history;
    private final UsageSampler sampler;
    private final PoolUses pools;

    public Explanations(UsageHistory history, UsageSampler sampler, PoolUses pools) {
        this.history = history;
        this.sampler = sampler;
        this.pools = pools;
    }

    /** Empty for a decision without a pool, and for one that is older than what is kept. */
    public Mono<Explanation> of(Decision decision) {
        String pool = decision.pool();
        if (pool == null) {
            return Mono.empty();
        }
        String tenant = decision.tenant();
        String tag = tenant == null ? null : pools.tagOf(tenant);
        Instant from = decision.at().minus(Duration.ofNanos(Math.round(1e9 * decision.waitedSeconds())));
        return sampler.sample().then(Mono.fromSupplier(() -> history.explain(pool, tag, from, decision.at())));
    }
}

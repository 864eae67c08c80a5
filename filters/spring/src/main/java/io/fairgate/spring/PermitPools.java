package io.fairgate.spring;

import io.fairgate.fairness.TenantShares;
import io.fairgate.permit.EmbeddedPermitPool;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolListener;
import io.fairgate.policy.Policy;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** The pools of the policy, by name. */
public final class PermitPools {

    private final Map<String, PermitPool> pools = new TreeMap<>();
    private final Policy policy;

    /** Makes an embedded pool for each pool of the policy. */
    PermitPools(Policy policy, Scheduler time, Function<String, PoolListener> listeners) {
        this.policy = policy;
        TenantShares shares = policy.shares();
        policy.pools()
                .forEach((name, settings) ->
                        pools.put(name, new EmbeddedPermitPool(name, settings, shares, time, listeners.apply(name))));
    }

    public Collection<PermitPool> all() {
        return pools.values();
    }

    public @Nullable PermitPool get(String name) {
        return pools.get(name);
    }

    /** The size of a pool that exists. */
    int permitsOf(String name) {
        return Objects.requireNonNull(policy.pools().get(name)).permits();
    }

    /** The classes of requests that routes may name. */
    Set<String> classes() {
        return policy.classes().keySet();
    }

    /** How all of them stand together. */
    record Standing(int inFlight, int waiting) {}

    Mono<Standing> standing() {
        return Flux.fromIterable(pools.values())
                .concatMap(PermitPool::snapshot)
                .reduce(
                        new Standing(0, 0),
                        (sum, pool) -> new Standing(sum.inFlight() + pool.inFlight(), sum.waiting() + pool.waiting()));
    }

    /** Closes all of them; see {@link PermitPool#close}. */
    Mono<Void> close(Duration patience) {
        return Flux.fromIterable(pools.values())
                .flatMap(pool -> pool.close(patience), Math.max(1, pools.size()))
                .then();
    }
}

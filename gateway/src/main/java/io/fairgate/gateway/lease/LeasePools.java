package io.fairgate.gateway.lease;

import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.LeasedPools;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.status.TenantStanding;
import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The pools of the policy in force, for leases. */
record LeasePools(PermitPools pools, PolicyHolder policy) implements LeasedPools {

    /** A pool, also one that the policy no longer names but that still has permits in use; null when there is none. */
    @Override
    public @Nullable PermitPool find(String name) {
        return pools.get(name);
    }

    /** In the order of the policy. */
    List<String> names() {
        return List.copyOf(policy.current().pools().keySet());
    }

    /** As in the policy in force; the usual bounds for a pool that it no longer names. */
    @Override
    public LeaseBounds bounds(String name) {
        PoolSettings settings = policy.current().pools().get(name);
        return settings == null ? LeaseBounds.USUAL : settings.leases();
    }

    /**
     * Completes when the tenant could ever hold these permits at the same time.
     *
     * @return errors with {@link HttpProblem} when it could not, or the policy names no such pool
     */
    Mono<Void> requireFits(TenantId tenant, Map<String, Integer> permits) {
        return Mono.defer(() -> {
            permits.keySet().forEach(this::require);
            return Flux.fromIterable(permits.entrySet())
                    .concatMap(each -> requireFits(require(each.getKey()), tenant, each.getValue()))
                    .then();
        });
    }

    private static Mono<Void> requireFits(PermitPool pool, TenantId tenant, int permits) {
        return pool.couldGrant(tenant, permits)
                .flatMap(could -> could
                        ? Mono.empty()
                        : Mono.error(LeaseProblems.neverFits(
                                pool.name(), permits, pool.settings().permits())));
    }

    /** The state of the tenant in a pool; errors with {@link HttpProblem} when the policy has no such pool. */
    Mono<TenantStanding> standing(String name, TenantId tenant) {
        return Mono.defer(() -> require(name).standing(tenant));
    }

    private PermitPool require(String name) {
        PermitPool pool = policy.current().pools().containsKey(name) ? pools.get(name) : null;
        if (pool == null) {
            throw LeaseProblems.unknownPool(name);
        }
        return pool;
    }
}

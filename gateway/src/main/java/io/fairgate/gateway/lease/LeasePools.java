package io.fairgate.gateway.lease;

import io.fairgate.fairness.TenantStanding;
import io.fairgate.lease.embedded.LeasedPools;
import io.fairgate.permit.LeaseBounds;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.tenant.TenantId;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The pools of the policy that is in force, as far as leases are concerned. */
final class LeasePools implements LeasedPools {

    private final PermitPools pools;
    private final LivePolicy policy;

    LeasePools(PermitPools pools, LivePolicy policy) {
        this.pools = pools;
        this.policy = policy;
    }

    /** A pool, also one that the policy does not name any more and that is not empty yet; null when there is none. */
    @Override
    public @Nullable PermitPool find(String name) {
        return pools.get(name);
    }

    /** In the order of the policy. */
    List<String> names() {
        return List.copyOf(policy.current().pools().keySet());
    }

    /** As the policy has it now; the usual ones where it does not name the pool any more. */
    @Override
    public LeaseBounds bounds(String name) {
        PoolSettings settings = policy.current().pools().get(name);
        return settings == null ? LeaseBounds.USUAL : settings.leases();
    }

    /**
     * Completes when the tenant could ever hold these permits at once.
     *
     * @return errors with {@link LeaseProblem} when it could not, or the policy names no such pool
     */
    Mono<Void> requireFits(TenantId tenant, Map<String, Integer> permits) {
        return Mono.defer(() -> {
            if (!policy.current().pools().keySet().containsAll(permits.keySet())) {
                return Mono.error(LeaseProblem.unknownPool());
            }
            return Flux.fromIterable(permits.entrySet())
                    .concatMap(each -> requirePool(each.getKey()).couldGrant(tenant, each.getValue()))
                    .all(could -> could)
                    .flatMap(all -> all ? Mono.empty() : Mono.error(LeaseProblem.neverFits()));
        });
    }

    /** How the tenant stands in a pool; errors with {@link LeaseProblem} when the policy names no such pool. */
    Mono<TenantStanding> standing(String name, TenantId tenant) {
        return Mono.defer(() -> policy.current().pools().containsKey(name)
                ? requirePool(name).standing(tenant)
                : Mono.error(LeaseProblem.unknownPool()));
    }

    private PermitPool requirePool(String name) {
        PermitPool pool = pools.get(name);
        if (pool == null) {
            throw LeaseProblem.unknownPool();
        }
        return pool;
    }
}

package io.fairgate.gateway.lease;

import io.fairgate.gateway.throttle.Semaphore;
import io.fairgate.gateway.throttle.Semaphores;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.policy.PolicyHolder;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The pools of the policy, as throttle's clients see them. */
final class PolicySemaphores implements Semaphores {

    private final LeasePools pools;
    private final PolicyHolder policy;
    private final Map<String, Integer> levels;

    PolicySemaphores(LeasePools pools, PolicyHolder policy, Map<String, Integer> levels) {
        this.pools = pools;
        this.policy = policy;
        this.levels = levels;
    }

    @Override
    public @Nullable Semaphore find(String name) {
        PoolSettings settings = policy.current().pools().get(name);
        PermitPool pool = settings == null ? null : pools.find(name);
        return settings == null || pool == null
                ? null
                : new Semaphore(pool, settings.permits(), levels.getOrDefault(name, 0));
    }

    @Override
    public Collection<Semaphore> all() {
        return pools.names().stream()
                .map(this::find)
                .filter(Objects::nonNull)
                .map(Objects::requireNonNull)
                .toList();
    }
}

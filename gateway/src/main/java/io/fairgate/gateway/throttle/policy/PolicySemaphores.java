package io.fairgate.gateway.throttle.policy;

import io.fairgate.gateway.throttle.Semaphore;
import io.fairgate.gateway.throttle.Semaphores;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pools of the policy, as throttle's clients see them. */
record PolicySemaphores(PermitPools pools, PolicyHolder policy, Map<String, Integer> levels) implements Semaphores {

    @Override
    public @Nullable Semaphore find(String name) {
        PoolSettings settings = policy.current().pools().get(name);
        PermitPool pool = settings == null ? null : pools.get(name);
        return settings == null || pool == null
                ? null
                : new Semaphore(pool, settings.permits(), levels.getOrDefault(name, 0));
    }

    @Override
    public Collection<Semaphore> all() {
        return policy.current().pools().keySet().stream()
                .flatMap(name -> Stream.ofNullable(find(name)))
                .toList();
    }
}

package io.fairgate.spring;

import io.fairgate.fairness.PoolStatus;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /actuator/pools}: how every pool stands, tenant by tenant. */
@Endpoint(id = "pools")
public final class PoolsEndpoint {

    private final PermitPools pools;

    PoolsEndpoint(PermitPools pools) {
        this.pools = pools;
    }

    @ReadOperation
    public Mono<Map<String, PoolStatus>> pools() {
        return Flux.fromIterable(pools.all())
                .concatMap(pool -> pool.snapshot().map(status -> Map.entry(pool.name(), status)))
                .collectMap(Map.Entry::getKey, Map.Entry::getValue, TreeMap::new);
    }
}

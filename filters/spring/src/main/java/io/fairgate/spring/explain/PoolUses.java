package io.fairgate.spring.explain;

import java.util.Map;
import reactor.core.publisher.Mono;

/** Reads the state of all pools. */
public interface PoolUses {

    /** The state of each pool, by name; empty while tenants change their tags. */
    Mono<Map<String, PoolUse>> now();
}

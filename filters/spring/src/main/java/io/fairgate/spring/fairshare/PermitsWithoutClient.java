package io.fairgate.spring.fairshare;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;

/**
 * Permits of each pool whose requests are over for their clients, and that the pool has not back yet: the upstream is still at
 * work, or its connection is just being closed.
 */
public final class PermitsWithoutClient {

    private final Map<String, Integer> byPool = new ConcurrentHashMap<>();

    public int of(String pool) {
        return byPool.getOrDefault(pool, 0);
    }

    /** Counts the permits until the request has settled. */
    Mono<Void> during(String pool, int permits, Mono<Void> settled) {
        return settled.doOnSubscribe(begun -> byPool.merge(pool, permits, Integer::sum))
                .doFinally(end -> byPool.computeIfPresent(pool, (name, all) -> all == permits ? null : all - permits));
    }
}

package io.fairgate.spring.fairshare;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;

/**
 * Counts the permits of each pool that are still held although their requests are over for their clients: the upstream
 * is still at work, or its connection is just being closed.
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

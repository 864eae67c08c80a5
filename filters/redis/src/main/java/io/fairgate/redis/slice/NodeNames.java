package io.fairgate.redis.slice;

import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** Names for the terms of one node. Random numbers are drawn once, because that may block. */
final class NodeNames implements Supplier<String> {

    private final UUID node;
    private final AtomicLong terms = new AtomicLong();

    /** @param node no other node has the same */
    NodeNames(UUID node) {
        this.node = node;
    }

    @Override
    public String get() {
        return node + "-" + terms.incrementAndGet();
    }
}

package io.fairgate.redis.slice;

import java.util.Collection;
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

    /** How many nodes have these names; after the end of a term, the former name of a node is in the ledger for a while. */
    static int nodes(Collection<String> names) {
        return (int) names.stream()
                .map(name -> name.substring(0, Math.max(0, name.lastIndexOf('-'))))
                .distinct()
                .count();
    }

    @Override
    public String get() {
        return node + "-" + terms.incrementAndGet();
    }
}

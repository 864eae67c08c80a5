package io.fairgate.spring.quota;

import org.jspecify.annotations.Nullable;

/**
 * What a request takes of its quotas.
 *
 * @param units charged when the request is forwarded; 0 for nothing, unless the response gives the cost
 * @param response how the response gives the cost; null when the cost is known before
 */
record RequestCost(long units, @Nullable ResponseCost response) {

    /** The cost of a request on a route without a {@code Cost} filter. */
    static final RequestCost ONE = new RequestCost(1, null);

    /**
     * A cost that the response gives is charged with at least one unit before, because a charge of nothing cannot be
     * corrected.
     */
    RequestCost {
        units = response == null ? units : Math.max(1, units);
    }
}

package io.fairgate.spring.quota;

import org.jspecify.annotations.Nullable;

/**
 * What a request takes of its quotas.
 *
 * @param units charged when it goes; 0 for nothing, unless the response tells
 * @param response how its response tells what it took; null when that is known before
 */
record RequestCost(long units, @Nullable ResponseCost response) {

    /** Of a request on a route that says nothing of costs. */
    static final RequestCost ONE = new RequestCost(1, null);

    /** One that the response tells is reserved with at least a unit: there is nothing smaller to correct. */
    RequestCost {
        units = response == null ? units : Math.max(1, units);
    }
}

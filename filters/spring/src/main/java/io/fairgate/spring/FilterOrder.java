package io.fairgate.spring;

import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.core.Ordered;

/**
 * The order of our filters, from the outside in. All but the last are ordered before {@link NettyWriteResponseFilter} (order -1):
 * that filter writes the body after the chain inside it has completed at the upstream's headers, so only what lies
 * outside it sees the last byte.
 */
enum FilterOrder {
    /** Right behind Spring Cloud Gateway's {@code AdaptCachedBodyGlobalFilter}, which has read the body of a route with retries. */
    CACHED_BODY(Ordered.HIGHEST_PRECEDENCE + 1001),
    /** Outside of every filter that disposes of the connection to the upstream. */
    RESPONSE_CONNECTION(Ordered.HIGHEST_PRECEDENCE + 1002),
    /** Outside of everything, to see how it ends. */
    ACCESS_LOG(-600),
    /** The first that decides: while draining nothing else is to happen. */
    DRAIN(-500),
    /** Before anything else looks at the path: what comes later depends on what it means. */
    PATH(-450),
    /** Who is asking, before anything is kept per tenant. */
    TENANT(-400),
    /** What it takes of its quotas, before they are asked. */
    COST(-350),
    /**
     * Refuse what would not pass its quotas, before a place in the queue is taken; wait, and hold the permit around everything
     * that follows, the writing of the last byte included.
     */
    FAIR_SHARE(-200),
    /** Charge when the permit is there: who waited in vain is not charged. */
    QUOTA_CHARGE(-100),
    /** Inside the writer: the upstream's connection is known, its body not yet read. */
    UPSTREAM_BODY_IDLE(NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER + 1);

    private final int order;

    FilterOrder(int order) {
        this.order = order;
    }

    int order() {
        return order;
    }
}

package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.spring.exchange.RouteRule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of {@code FairShare=POOL} on a route; the pool's settings apply for null.
 *
 * @param permits how many a request takes
 * @param requestClass the class of the requests within their tenants; null for none
 */
public record FairShareRule(
        String pool,
        int permits,
        @Nullable Duration maxHold,
        @Nullable OnClientLeft onClientLeft,
        @Nullable String requestClass)
        implements RouteRule {}

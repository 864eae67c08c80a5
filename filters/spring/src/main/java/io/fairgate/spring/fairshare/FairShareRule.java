package io.fairgate.spring.fairshare;

import io.fairgate.spring.exchange.RouteRule;

import io.fairgate.permit.OnClientLeft;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * {@code FairShare=POOL} of a route.
 *
 * @param permits how many a request takes
 * @param maxHold for how long it may hold them; null for the pool's maximum
 * @param onClientLeft null for what the pool says
 * @param requestClass the class of the requests within their tenants; null for none
 */
public record FairShareRule(
        String pool,
        int permits,
        @Nullable Duration maxHold,
        @Nullable OnClientLeft onClientLeft,
        @Nullable String requestClass)
        implements RouteRule {}

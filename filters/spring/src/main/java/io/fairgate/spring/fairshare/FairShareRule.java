package io.fairgate.spring.fairshare;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.spring.exchange.RouteRule;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of {@code FairShare=POOL} on a route.
 *
 * @param permits how many a request takes
 * @param maxHold for how long it may hold them; null for the pool's maximum
 * @param onClientLeft null for the pool's setting
 * @param requestClass the class of the requests within their tenants; null for none
 */
public record FairShareRule(
        String pool,
        int permits,
        @Nullable Duration maxHold,
        @Nullable OnClientLeft onClientLeft,
        @Nullable String requestClass)
        implements RouteRule {}

package io.fairgate.spring.metrics;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;

/**
 * The counters by route, and those of quotas that refuse. The first {@value #MOST} routes have series of their own, also after they
 * have left the policy, so that no counter decreases; all others are counted together.
 */
public final class RouteCounters implements RouteMeters {

    private static final String NONE = "none";
    private static final String OTHER = "_other";
    private static final int MOST = 1_000;

    private final FairgateMeters meters;
    /** The requests received, by the tag of the route. */
    private final Map<String, Counter> received = new ConcurrentHashMap<>();

    public RouteCounters(FairgateMeters meters) {
        this.meters = meters;
        received(NONE).increment(0); // So that the first one shows as an increase.
    }

    @Override
    public void received(ServerWebExchange exchange) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        received(tag(route == null ? null : route.getId())).increment();
    }

    private Counter received(String tag) {
        Counter known = received.get(tag);
        return known == null
                ? received.computeIfAbsent(tag, t -> meters.counter(Meter.REQUESTS, Tags.of("route", t)))
                : known;
    }

    private String tag(@Nullable String route) {
        if (route == null) {
            return NONE;
        }
        return received.containsKey(route) || received.size() < MOST ? route : OTHER;
    }

    @Override
    public void decided(Decision decision) {
        String pool = decision.pool();
        String enforced = Boolean.toString(decision.enforced());
        Tags tags = Tags.of(
                "route",
                tag(decision.route()),
                "pool",
                pool == null ? FairgateMeters.NO_POOL : pool,
                "reason",
                decision.reason(),
                "enforced",
                enforced);
        meters.counter(Meter.DECISIONS, tags).increment();
        for (String quota : decision.quotas()) {
            Tags own = Tags.of("tenant", owner(quota, decision), "quota", quota, "enforced", enforced);
            meters.counter(Meter.QUOTA_REFUSALS, own).increment();
        }
    }

    /** As the gauges of quotas have it: a quota of a group is named {@code group/quota}. */
    private String owner(String quota, Decision decision) {
        String tenant = decision.tenant();
        return quota.indexOf('/') >= 0 ? QuotaGauges.GROUP : meters.tag(tenant == null ? null : TenantId.of(tenant));
    }
}

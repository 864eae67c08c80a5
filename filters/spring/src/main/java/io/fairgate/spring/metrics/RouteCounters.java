package io.fairgate.spring.metrics;

import static org.springframework.cloud.gateway.support.ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR;

import io.fairgate.spring.refusal.DecisionLog.Decision;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.tenant.TenantId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.web.server.ServerWebExchange;

/**
 * The counters by route, and those of quotas that refuse. The first {@value #MOST} routes have series of their own, also after they
 * have left the policy, so that no counter decreases. The same is true for quotas of groups. The quotas of a tenant have series of their
 * own when the tenant has. Everything else counts as {@code _other}.
 */
public final class RouteCounters implements RouteMeters {

    private static final String NONE = "none";
    private static final String OTHER = "_other";
    private static final int MOST = 1_000;
    private static final List<String> STATUSES = List.of("2xx", "3xx", "4xx", "5xx", "other");

    private final FairgateMeters meters;
    /** The requests received, by the tag of the route. */
    private final Map<String, Counter> received = new ConcurrentHashMap<>();
    /** The responses of upstreams, by the tag of the route; in the order of {@link #STATUSES}. */
    private final Map<String, List<Counter>> responses = new ConcurrentHashMap<>();

    private volatile Found found;
    /** The quotas of groups that have series of their own. */
    private final Set<String> groupQuotas = ConcurrentHashMap.newKeySet();

    public RouteCounters(FairgateMeters meters) {
        this.meters = meters;
        this.found = new Found(meters, meters.removals(), new ConcurrentHashMap<>());
        received(NONE).increment(0); // So that the first one shows as an increase.
    }

    @Override
    public void received(ServerWebExchange exchange) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        received(tag(route == null ? null : route.getId())).increment();
    }

    @Override
    public void responded(ServerWebExchange exchange, int status) {
        Route route = exchange.getAttribute(GATEWAY_ROUTE_ATTR);
        String tag = tag(route == null ? null : route.getId());
        List<Counter> known = responses.get(tag);
        if (known == null) {
            known = responses.computeIfAbsent(tag, this::newResponses);
        }
        known.get(STATUSES.indexOf(statusClass(status))).increment();
    }

    private static String statusClass(int status) {
        return switch (status / 100) {
            case 2 -> "2xx";
            case 3 -> "3xx";
            case 4 -> "4xx";
            case 5 -> "5xx";
            default -> "other";
        };
    }

    /** All are registered with the first response, so that the first error shows as an increase. */
    private List<Counter> newResponses(String tag) {
        return STATUSES.stream()
                .map(status -> meters.counter(Meter.UPSTREAM_RESPONSES, Tags.of("route", tag, "status", status)))
                .toList();
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
        Found now = found();
        Key decided = new Key(
                Meter.DECISIONS, tag(decision.route()), decision.pool(), decision.reason(), decision.enforced());
        now.counter(decided, RouteCounters::decisionTags).increment();
        for (int i = 0; i < decision.quotas().size(); i++) {
            String tenant = decision.tenant();
            String tag = meters.tag(tenant == null ? null : TenantId.of(tenant));
            Key refused =
                    new Key(Meter.QUOTA_REFUSALS, tag, null, decision.quotas().get(i), decision.enforced());
            now.counter(refused, this::quotaTags).increment();
        }
    }

    /**
     * What decides the tags of a counter.
     *
     * @param owner the tag of the route or the tenant
     * @param what the reason or the quota
     */
    private record Key(Meter meter, String owner, @Nullable String pool, String what, boolean enforced) {}

    /** The counters that were found before the next removal: to make the tags of each event takes more memory. */
    private record Found(FairgateMeters meters, int removals, Map<Key, Counter> counters) {

        Counter counter(Key key, Function<Key, Tags> tags) {
            Counter known = counters.get(key);
            return known == null ? counters.computeIfAbsent(key, k -> meters.counter(k.meter(), tags.apply(k))) : known;
        }
    }

    private Found found() {
        Found now = found;
        int removals = meters.removals();
        if (now.removals() != removals) {
            now = new Found(meters, removals, new ConcurrentHashMap<>());
            found = now;
        }
        return now;
    }

    private static Tags decisionTags(Key key) {
        String pool = key.pool();
        return Tags.of(
                "route", key.owner(),
                "pool", pool == null ? FairgateMeters.NO_POOL : pool,
                "reason", key.what(),
                "enforced", Boolean.toString(key.enforced()));
    }

    /** As the gauges of quotas have them: a quota of a group is named {@code group/quota}. */
    private Tags quotaTags(Key key) {
        String quota = key.what();
        Tags tags;
        if (key.owner().equals(TenantSeries.OTHER)) {
            tags = Tags.of("tenant", OTHER, "quota", OTHER);
        } else if (quota.indexOf('/') < 0) {
            tags = Tags.of("tenant", key.owner(), "quota", quota);
        } else {
            boolean hasSeries = groupQuotas.contains(quota) || (groupQuotas.size() < MOST && groupQuotas.add(quota));
            tags = Tags.of("tenant", QuotaGauges.GROUP, "quota", hasSeries ? quota : OTHER);
        }
        return tags.and("enforced", Boolean.toString(key.enforced()));
    }
}

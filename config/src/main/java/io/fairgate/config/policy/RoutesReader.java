package io.fairgate.config.policy;

import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.policy.TenantsReader.Tenants;
import io.fairgate.config.policy.UpstreamsReader.Upstreams;
import io.fairgate.config.routes.FilterArguments;
import io.fairgate.config.routes.RouteMetadata;
import io.fairgate.config.routes.ShadowedRoutes;
import io.fairgate.config.routes.Written;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.upstream.Upstream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code routes}: their shape, pools and tenants. The gateway checks what predicates and filters mean. */
final class RoutesReader {
    private final Pools pools;
    private final Tenants tenants;
    private final Upstreams upstreams;
    private final Map<String, String> filledIn;
    private final Map<String, Value> ids = new HashMap<>();
    private final Map<String, Set<String>> used = new HashMap<>();
    private final Map<String, Upstream> ofRoutes = new LinkedHashMap<>();
    private final Map<String, Value> corsOfPaths = new HashMap<>();

    /** @param filledIn maps each value that came from elsewhere to its placeholder in the file */
    RoutesReader(Pools pools, Tenants tenants, Upstreams upstreams, Map<String, String> filledIn) {
        this.pools = pools;
        this.tenants = tenants;
        this.upstreams = upstreams;
        this.filledIn = filledIn;
    }

    List<RouteDeclaration> read(List<Value> items) {
        List<RouteDeclaration> routes = new ArrayList<>();
        List<ShadowedRoutes.Route> inUse = new ArrayList<>();
        for (int index = 0; index < items.size(); index++) {
            Value item = items.get(index);
            Section section = Section.open(item, PolicyKeys.ROUTE);
            RouteDeclaration route = route(index, item, section, inUse);
            if (route != null) {
                routes.add(route);
            }
        }
        ShadowedRoutes.warn(inUse);
        return routes;
    }

    /** The pools, classes and upstreams that routes name. */
    Set<String> used(String argument) {
        return used.getOrDefault(argument, Set.of());
    }

    /** The upstreams of single routes, by the ids of these. */
    Map<String, Upstream> ofRoutes() {
        return ofRoutes;
    }

    /** The ids that quotas may name, including routes with mistakes; null when they cannot be determined. */
    static @Nullable Set<String> ids(Section file) {
        if (!file.has("routes")) {
            return file.mentions("routes") ? null : Set.of();
        }
        Set<String> ids = new LinkedHashSet<>();
        for (Value item : file.items("routes")) {
            Map<String, Value> entries = item.entriesOrNull();
            Value id = entries == null ? null : entries.get("id");
            String name = id == null ? null : id.scalar();
            if (name == null) {
                return null;
            }
            ids.add(name);
        }
        return ids;
    }

    private @Nullable RouteDeclaration route(
            int index, Value value, Section section, List<ShadowedRoutes.Route> inUse) {
        String id = section.text("id");
        Value given = section.get("id");
        Value first = id == null || given == null ? null : ids.putIfAbsent(id, given);
        if (first != null && given != null) {
            given.mistake("a unique name; the route at %s has this one".formatted(first.place()));
        }
        Destination destination = Destination.read(section, upstreams);
        noteUpstream(section, id, destination);
        List<RouteComponent> predicates = components(section.items("predicates"), PolicyKeys.PREDICATE);
        List<RouteComponent> filters = components(section.items("filters"), PolicyKeys.FILTER);
        List<Written> written = predicates.stream().map(RouteComponent::written).toList();
        @Nullable Set<String> variables = FilterArguments.variables(written);
        filters.forEach(filter -> FilterArguments.check(filter.written(), variables));
        checkCors(section.entries("metadata").get(RouteMetadata.CORS), written);
        boolean isInUse = section.truth("enabled", true);
        if (isInUse) {
            checkFairShare(section, filters);
            filters.forEach(filter -> checkPerInstance(section, filter));
        }
        boolean isRead = !written.isEmpty()
                && written.stream().noneMatch(predicate -> predicate.name().isEmpty());
        if (id != null && isRead && isInUse) {
            inUse.add(new ShadowedRoutes.Route(value, id, section.integer("order", 0), written));
        }
        Map<String, Object> definition = PlainData.entries(value);
        if (definition != null && destination.uri() != null) {
            definition = PlainData.with(
                    PlainData.without(definition, Destination.UPSTREAM, Destination.URIS),
                    Destination.URI,
                    destination.uri());
        }
        if (definition != null && definition.get("metadata") instanceof Map<?, ?> metadata) {
            definition = PlainData.with(
                    definition, "metadata", RouteMetadata.read(section.entries("metadata"), metadata, written));
        }
        return id == null || definition == null
                ? null
                : new RouteDeclaration(
                        id, index, value.line(), definition, lines(predicates), lines(filters), filledIn);
    }

    private void noteUpstream(Section route, @Nullable String id, Destination destination) {
        String name = route.text(Destination.UPSTREAM);
        if (name != null) {
            used.computeIfAbsent(Destination.UPSTREAM, key -> new HashSet<>()).add(name);
        }
        if (id != null && destination.own() != null) {
            ofRoutes.put(id, destination.own());
        }
    }

    private static List<Integer> lines(List<RouteComponent> components) {
        return components.stream()
                .map(component -> component.written().value().line())
                .toList();
    }

    /** Spring Cloud Gateway keeps these settings by the first path of a route. */
    private void checkCors(@Nullable Value cors, List<Written> predicates) {
        String path = predicates.stream()
                .filter(predicate -> predicate.name().equals("Path"))
                .flatMap(predicate -> predicate.texts().stream().limit(1))
                .findFirst()
                .orElse("/**");
        Value other = cors == null ? null : corsOfPaths.putIfAbsent(path, cors);
        if (cors != null && other != null) {
            cors.warn("the settings at %s are for the same path, %s, and only one of them counts"
                    .formatted(other.place(), path));
        }
    }

    /** Requests without a permit are fewer than the pool knows of, so that is to be said where it is intended. */
    private void checkFairShare(Section route, List<RouteComponent> filters) {
        boolean hasPool = filters.stream().anyMatch(filter -> filter.name().equals(PolicyKeys.FAIR_SHARE));
        boolean hasUpstream = Destination.isUpstream(route)
                && filters.stream().noneMatch(filter -> filter.name().equals("RedirectTo"));
        Value stated = route.entries("metadata").get(RouteMetadata.FAIR_SHARE);
        if (stated != null && hasPool == "false".equals(stated.plainScalar())) {
            stated.mistake(
                    hasPool ? "true, because the route has a FairShare" : "false, because the route has no FairShare");
        } else if (stated == null && !hasPool && hasUpstream && !Set.of().equals(pools.names())) {
            route.warn(
                    "filters",
                    "no FairShare, so these requests reach the upstream without a permit; if that is intended, say so with metadata: { fair-share: false }");
        }
    }

    private void checkPerInstance(Section route, RouteComponent filter) {
        boolean isFairShare = filter.name().equals(PolicyKeys.FAIR_SHARE);
        PoolsReader.Pool pool = isFairShare ? pools.pools().get(String.valueOf(filter.argument("pool"))) : null;
        String of = pool == null ? null : pool.perInstanceOf();
        boolean hasOther = route.has(Destination.UPSTREAM) || route.has(Destination.URIS) || isHttp(route);
        if (of != null && hasOther && !of.equals(route.text(Destination.UPSTREAM))) {
            filter.written()
                    .value()
                    .warn("this pool has permits for each instance of upstream %s, and the route is to another one"
                            .formatted(of));
        }
    }

    /** A URI with a mistake is one mistake, and not two. */
    private static boolean isHttp(Section route) {
        return route.text(Destination.URI, "").toLowerCase(Locale.ROOT).matches("(http|ws)s?://.*");
    }

    private List<RouteComponent> components(List<Value> items, KnownKeys keys) {
        List<RouteComponent> components = new ArrayList<>();
        for (Value item : items) {
            RouteComponent component = RouteComponent.read(item, keys);
            boolean isFairShare = component.name().equals(PolicyKeys.FAIR_SHARE);
            if (isFairShare
                    && components.stream().anyMatch(other -> other.name().equals(PolicyKeys.FAIR_SHARE))) {
                // Two requests that each hold a permit of one pool and wait for the other pool would deadlock.
                item.mistake("one FairShare on a route");
            }
            components.add(component);
            component.check(pools, tenants);
            for (String argument : List.of("pool", "class")) {
                String name = isFairShare ? component.argument(argument) : null;
                if (name != null) {
                    used.computeIfAbsent(argument, key -> new HashSet<>()).add(name);
                }
            }
        }
        return components;
    }
}

package io.fairgate.config.policy;

import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.policy.TenantsReader.Tenants;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads {@code routes}: their shape, pools and tenants. The gateway checks what predicates and filters mean. */
final class RoutesReader {
    /** {@code no} is for routes that answer by themselves, for instance with a redirect. */
    private static final Set<String> SCHEMES = Set.of("http", "https", "ws", "wss", "no");

    private final Pools pools;
    private final Tenants tenants;
    private final Map<String, String> filledIn;
    private final Map<String, Value> ids = new HashMap<>();

    /** @param filledIn maps each value that came from elsewhere to its placeholder in the file */
    RoutesReader(Pools pools, Tenants tenants, Map<String, String> filledIn) {
        this.pools = pools;
        this.tenants = tenants;
        this.filledIn = filledIn;
    }

    List<RouteDeclaration> read(List<Value> items) {
        List<RouteDeclaration> routes = new ArrayList<>();
        for (int index = 0; index < items.size(); index++) {
            RouteDeclaration route = route(index, items.get(index));
            if (route != null) {
                routes.add(route);
            }
        }
        return routes;
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

    private @Nullable RouteDeclaration route(int index, Value value) {
        Section section = Section.open(value, PolicyKeys.ROUTE);
        String id = section.text("id");
        Value given = section.get("id");
        Value first = id == null || given == null ? null : ids.putIfAbsent(id, given);
        if (first != null && given != null) {
            given.mistake("a unique name; the route at %s has this one".formatted(first.place()));
        }
        Value uri = section.get("uri");
        if (uri != null && section.has("uri")) {
            checkUri(uri, section.text("uri", ""));
        }
        List<Integer> predicateLines = components(section.items("predicates"), PolicyKeys.PREDICATE);
        List<Integer> filterLines = components(section.items("filters"), PolicyKeys.FILTER);
        Map<String, Object> definition = PlainData.entries(value);
        return id == null || definition == null
                ? null
                : new RouteDeclaration(id, index, value.line(), definition, predicateLines, filterLines, filledIn);
    }

    /** Spring Cloud Gateway would ignore a path, and fail at the first request with a URI that it cannot use. */
    private static void checkUri(Value value, String text) {
        try {
            URI uri = new URI(text);
            String scheme = uri.getScheme();
            if (scheme == null || !SCHEMES.contains(scheme.toLowerCase(Locale.ROOT)) || uri.getHost() == null) {
                value.mistake("a URI with http, https, ws or wss and a host, such as http://localhost:9000");
            } else if (!Set.of("", "/").contains(String.valueOf(uri.getRawPath())) || uri.getRawQuery() != null) {
                value.mistake("a URI without a path, which would be ignored; the filter PrefixPath adds one");
            }
        } catch (URISyntaxException e) {
            value.mistake("a URI such as http://localhost:9000");
        }
    }

    /** Checks predicates or filters, and returns their lines. */
    private List<Integer> components(List<Value> items, KnownKeys keys) {
        boolean hasPool = false;
        for (Value item : items) {
            RouteComponent component = RouteComponent.read(item, keys);
            boolean isFairShare = component.name().equals(PolicyKeys.FAIR_SHARE);
            if (isFairShare && hasPool) {
                // Two requests that each hold a permit of one pool and wait for the other pool would deadlock.
                item.mistake("one FairShare on a route");
            }
            hasPool |= isFairShare;
            component.check(pools, tenants);
        }
        return items.stream().map(Value::line).toList();
    }
}

package io.fairgate.config.policy;

import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code routes}: their shape, and the pools and tenants that they name. The gateway checks the meaning of
 * predicates and filters, because this module does not know them.
 */
final class RoutesReader {
    private final Pools pools;
    private final @Nullable Set<String> classes;
    private final @Nullable Set<String> tenants;
    private final Map<String, String> filledIn;
    private final Map<String, Value> ids = new HashMap<>();

    private RoutesReader(Pools pools, TenantsReader.Tenants tenants, Map<String, String> filledIn) {
        this.pools = pools;
        this.classes = tenants.classNames();
        this.tenants = tenants.tenantNames();
        this.filledIn = filledIn;
    }

    /**
     * Reads all routes.
     *
     * @param filledIn maps each value that came from elsewhere to its placeholder in the file
     */
    static List<RouteDeclaration> read(
            Value value, Pools pools, TenantsReader.Tenants tenants, Map<String, String> filledIn) {
        RoutesReader reader = new RoutesReader(pools, tenants, filledIn);
        List<RouteDeclaration> routes = new ArrayList<>();
        List<Value> items = value.items("a list of routes");
        int index = 0;
        for (Value item : items == null ? List.<Value>of() : items) {
            Section section = Section.open(item, PolicyKeys.ROUTE);
            RouteDeclaration route = section == null ? null : reader.route(index, item, section);
            if (route != null) {
                routes.add(route);
            }
            index++;
        }
        return routes;
    }

    /** The ids that quotas may name, including routes with mistakes; null when they cannot be determined. */
    static @Nullable Set<String> ids(Section file) {
        Value value = file.get("routes");
        if (value == null) {
            return file.mentions("routes") ? null : Set.of();
        }
        List<Value> items = value.items("a list of routes");
        if (items == null) {
            return null;
        }
        Set<String> ids = new LinkedHashSet<>();
        for (Value item : items) {
            Map<String, Value> entries = item.isMapping() ? item.entries("") : null;
            Value id = entries == null ? null : entries.get("id");
            String name = id == null ? null : id.scalar();
            if (name == null) {
                return null;
            }
            ids.add(name);
        }
        return ids;
    }

    private @Nullable RouteDeclaration route(int index, Value value, Section section) {
        String id = id(section);
        Value uri = section.require("uri", UpstreamUri.EXPECTED);
        if (uri != null) {
            UpstreamUri.check(uri);
        }
        List<Integer> predicateLines = predicates(section);
        List<Integer> filterLines = filters(section);
        metadata(section);
        Map<String, Object> definition = PlainData.entries(value);
        return id == null || definition == null
                ? null
                : new RouteDeclaration(id, index, value.line(), definition, predicateLines, filterLines, filledIn);
    }

    private @Nullable String id(Section section) {
        String expected = "a name of the route's own";
        Value value = section.require("id", expected);
        String id = value == null ? null : value.text(expected);
        if (value == null || id == null) {
            return null;
        }
        Value first = ids.putIfAbsent(id, value);
        if (first != null) {
            value.mistake("%s; the route at line %d has this one".formatted(expected, first.line()));
        }
        return id;
    }

    private List<Integer> predicates(Section section) {
        String expected = "a list of at least one predicate, such as Path=/orders/**";
        Value value = section.require("predicates", expected);
        List<Value> items = value == null ? null : value.items(expected);
        if (value != null && items != null && items.isEmpty()) {
            value.mistake(expected);
        }
        List<Integer> lines = new ArrayList<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Step step = Step.read(item, PolicyKeys.PREDICATE, "a predicate such as Path=/orders/**");
            if (step != null && step.name().equals(TenantReference.PREDICATE)) {
                TenantReference.check(step, tenants);
            }
            lines.add(item.line());
        }
        return lines;
    }

    private List<Integer> filters(Section section) {
        Value value = section.get("filters");
        List<Value> items = value == null ? null : value.items("a list of filters");
        List<Integer> lines = new ArrayList<>();
        boolean hasPool = false;
        for (Value item : items == null ? List.<Value>of() : items) {
            Step step = Step.read(item, PolicyKeys.FILTER, "a filter such as FairShare=orders");
            if (step != null && step.name().equals(FairShareReference.FILTER)) {
                if (hasPool) {
                    // A request that holds a permit of one pool and waits for another could deadlock with one that does
                    // the reverse.
                    item.mistake("one FairShare on a route");
                }
                hasPool = true;
                FairShareReference.check(step, pools, classes);
            } else if (step != null && step.name().equals(CostReference.FILTER)) {
                CostReference.check(step);
            }
            lines.add(item.line());
        }
        return lines;
    }

    private static void metadata(Section section) {
        Value metadata = section.get("metadata");
        if (metadata != null) {
            metadata.entries("a mapping");
        }
        Value order = section.get("order");
        if (order != null) {
            order.integer();
        }
        Value enabled = section.get("enabled");
        if (enabled != null) {
            enabled.truth();
        }
    }
}

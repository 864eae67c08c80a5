package io.fairgate.config.policy;

import io.fairgate.config.policy.PoolsReader.Pools;
import io.fairgate.config.policy.TenantsReader.Tenants;
import io.fairgate.config.routes.BuiltIns;
import io.fairgate.config.routes.Component;
import io.fairgate.config.routes.ComponentCheck;
import io.fairgate.config.routes.Written;
import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.policy.Cidr;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A predicate or a filter of a route, written as {@code Name=argument,argument} or with {@code name} and {@code args}.
 *
 * @param arguments the arguments of a filter or a predicate of ours; null for others
 */
record RouteComponent(Written written, @Nullable Section arguments) {

    /** How many arguments the short form takes. */
    static final Map<String, Integer> IN_SHORT_FORM =
            Map.of(PolicyKeys.FAIR_SHARE, 3, PolicyKeys.COST, 1, PolicyKeys.TENANT, 1);

    /** Notes a mistake, and has an empty name, when the value has neither form. */
    static RouteComponent read(Value value, KnownKeys keys) {
        RouteComponent component = value.isMapping() ? longForm(value, keys) : shortForm(value, keys);
        Component builtIn = BuiltIns.of(keys.equals(PolicyKeys.FILTER)).get(component.name());
        if (builtIn != null) {
            ComponentCheck.check(component.written, builtIn);
        }
        return component;
    }

    String name() {
        return written.name();
    }

    private static RouteComponent longForm(Value value, KnownKeys keys) {
        Section section = Section.open(value, keys);
        String name = section.text("name", "");
        Value args = section.get("args");
        Value holder = args == null ? value : args;
        Map<String, Value> given = args == null ? Map.of() : args.entriesOrNull();
        if (given == null) {
            holder.mistake("a mapping of arguments");
            return new RouteComponent(new Written(value, "", false, Map.of()), null);
        }
        HeaderFilters.check(value, name, given);
        KnownKeys known = PolicyKeys.ARGUMENTS.get(name);
        return new RouteComponent(
                new Written(value, name, false, given),
                known == null ? null : Section.ofArguments(holder, given, known));
    }

    private static RouteComponent shortForm(Value value, KnownKeys keys) {
        String text = value.text(keys.keys().get(0).meaning());
        String[] parts = text == null ? new String[] {""} : text.split("=", 2);
        String name = parts[0];
        if (name.isBlank() && text != null) {
            value.mistake(keys.keys().get(0).meaning());
        }
        if (parts.length == 1 && !name.isEmpty() && keys.equals(PolicyKeys.PREDICATE)) {
            value.mistake("%s= and its arguments; Spring Cloud Gateway takes no predicate without =".formatted(name));
        }
        String arguments = parts.length > 1 ? parts[1] : "";
        HeaderFilters.check(value, name, arguments);
        Map<String, Value> positions = new LinkedHashMap<>();
        for (String part : arguments.split(",", -1)) {
            if (!part.isBlank()) {
                String key = Component.POSITION + positions.size();
                positions.put(key, value.part(key, part.strip()));
            }
        }
        KnownKeys known = PolicyKeys.ARGUMENTS.get(name);
        return new RouteComponent(
                new Written(value, name, true, positions),
                known == null ? null : shortForm(name, value, arguments, known));
    }

    /** Splits as Spring Cloud Gateway does: at commas, without surrounding space and without empty arguments. */
    private static Section shortForm(String name, Value component, String text, KnownKeys known) {
        int most = IN_SHORT_FORM.getOrDefault(name, 0);
        List<String> keys = known.names().subList(0, most);
        List<String> parts = known.keys().get(0).type().equals(KeyType.PART)
                ? List.of(text)
                : Arrays.stream(text.split(",")).map(String::strip).toList();
        Map<String, Value> arguments = new LinkedHashMap<>();
        for (String part : parts) {
            if (part.isEmpty()) {
                continue;
            } else if (arguments.size() == most) {
                component.mistake("%s=%s".formatted(name, String.join(",", keys)));
                break;
            }
            String key = keys.get(arguments.size());
            arguments.put(key, component.part(key, part));
        }
        return Section.ofArguments(component, arguments, known);
    }

    /** The value of an argument of ours; null without. */
    @Nullable
    String argument(String key) {
        return arguments == null ? null : arguments.text(key);
    }

    /** Checks the arguments of a filter or a predicate of ours against the other parts of the policy. */
    void check(Pools pools, Tenants tenants) {
        if (arguments == null) {
            return;
        }
        switch (name()) {
            case PolicyKeys.FAIR_SHARE -> checkFairShare(arguments, pools, tenants);
            case PolicyKeys.COST -> checkCost(arguments, tenants);
            default -> checkTenant(arguments, tenants);
        }
    }

    /** Checks that a {@code FairShare} filter names a pool and a class of the file, and fits into the pool. */
    private static void checkFairShare(Section arguments, Pools pools, Tenants tenants) {
        Names.reference(arguments, "class", tenants.classNames(), "class");
        String name = Names.reference(arguments, "pool", pools.names(), "pool");
        PoolsReader.Pool pool = pools.pools().get(name);
        Value permits = arguments.get("permits");
        if (pool != null
                && permits != null
                && arguments.integer("permits", 1) > pool.settings().permits()) {
            permits.mistake(
                    "1 to %d, the size of pool %s".formatted(pool.settings().permits(), name));
        }
        Value maxHold = arguments.get("max-hold");
        if (maxHold != null
                && arguments.duration("max-hold", Duration.ofSeconds(1)).compareTo(Duration.ZERO) <= 0) {
            maxHold.mistake("more than 0");
        }
    }

    /** Checks the networks of a {@code Cost} filter. The gateway checks the combination of arguments, and the rules. */
    private static void checkCost(Section arguments, Tenants tenants) {
        Value trustedFrom = arguments.get("trusted-from");
        if (trustedFrom != null && arguments.has("trusted-from")) {
            List<Cidr> networks = TrustedNetworks.read(
                    trustedFrom, trustedFrom.split(), "send this header and state the cost of its requests");
            TrustedNetworks.warnOfProxies(
                    trustedFrom, networks, tenants.identification().proxies(), "name the networks of these clients");
        }
    }

    /** Checks that a {@code Tenant} predicate names tenants of the file: an unknown one would never match. */
    private static void checkTenant(Section arguments, Tenants tenants) {
        Value value = arguments.get("tenants");
        if (value == null) {
            return;
        }
        List<Value> items = value.isList()
                ? value.itemsOrNull()
                : value.split().stream()
                        .filter(item -> !"".equals(item.scalar()))
                        .toList();
        if (items == null || items.isEmpty()) {
            value.mistake("ids of members, such as Tenant=acme,globex");
            return;
        }
        for (Value item : items) {
            String id = item.text("the id of a member");
            if (id != null) {
                Names.isKnown(id, tenants.tenantNames(), item, "member");
            }
        }
    }
}

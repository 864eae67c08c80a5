package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.fairness.ShareSettings;
import io.fairgate.permit.PoolSettings;
import io.fairgate.policy.IdentitySource.Kind;
import io.fairgate.policy.TokenRules;
import io.fairgate.quota.Quota;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Makes the JSON schema (2020-12) of policy files: its sections and their keys from {@link KnownKeys}, bounds from the
 * records of the core, and what editors show beside a key from the comments of the reference.
 */
final class PolicySchema {

    private static final String NAME = "^[A-Za-z0-9.-][A-Za-z0-9._-]{0,63}$";
    private static final String DURATION = "^(-?[0-9]+(ms|s|m|h|d)|-?[pP].*)$";

    /** What YAML takes for a number or a truth is a text as well where a text is expected. */
    private static final Map<String, Object> TEXT = ordered("type", List.of("string", "number", "boolean"));

    /** A value that stands elsewhere may be of any kind. */
    private static final Map<String, Object> PLACEHOLDER = ordered("type", "string", "pattern", "\\$\\{");

    private static final Map<String, Set<String>> REQUIRED = Map.ofEntries(
            Map.entry("", Set.of("tenants")),
            Map.entry("tenants", Set.of("identify")),
            Map.entry("tenants.identify[].api-key", Set.of("header")),
            Map.entry("tenants.identify[].jwt", Set.of("issuer", "audience", "jwks")),
            Map.entry("tenants.identify[].client-certificate", Set.of("name")),
            Map.entry("tenants.members.*", Set.of("plan")),
            Map.entry("tenants.groups.*.quotas[]", Set.of("name", "limit")),
            Map.entry("tenants.plans.*.quotas[]", Set.of("name", "limit")),
            Map.entry("tenants.members.*.quotas[]", Set.of("name", "limit")),
            Map.entry("pools.*", Set.of("permits")),
            Map.entry("routes[]", Set.of("id", "uri", "predicates")),
            Map.entry("routes[].predicates[]", Set.of("name")),
            Map.entry("routes[].filters[]", Set.of("name")));

    /** Sections of which exactly one of some keys is there. */
    private static final Map<String, List<String>> EXACTLY_ONE = Map.of(
            "tenants.identify[]", Stream.of(Kind.values()).map(Kind::key).toList(),
            "tenants.groups.*.quotas[]", List.of("per", "within"),
            "tenants.plans.*.quotas[]", List.of("per", "within"),
            "tenants.members.*.quotas[]", List.of("per", "within"));

    /** Each says by its name what it is. */
    private static final Set<String> STEPS = Set.of("routes[].predicates[]", "routes[].filters[]");

    private final Map<String, String> descriptions = new LinkedHashMap<>();

    private PolicySchema() {}

    /** @param reference the text of the reference file */
    static Map<String, Object> of(String reference) {
        PolicySchema schema = new PolicySchema();
        List<String> lines = reference.lines().toList();
        schema.describe(new Yaml().compose(new StringReader(reference)), "", lines);
        Map<String, Object> root = ordered(
                "$schema", "https://json-schema.org/draft/2020-12/schema", "title", "The policy of a Fairgate gateway");
        root.putAll(schema.section(PolicyKeys.FILE));
        return root;
    }

    private Map<String, Object> section(KnownKeys known) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (String key : known.keys()) {
            String path = known.place().isEmpty() ? key : known.place() + "." + key;
            Map<String, Object> value = new LinkedHashMap<>();
            String description = descriptions.get(path);
            if (description != null) {
                value.put("description", description);
            }
            value.putAll(value(path, key));
            properties.put(key, value);
        }
        Map<String, Object> section =
                ordered("type", "object", "properties", properties, "additionalProperties", false);
        Set<String> required = REQUIRED.get(known.place());
        if (required != null) {
            section.put("required", required.stream().sorted().toList());
        }
        List<String> ways = EXACTLY_ONE.get(known.place());
        if (ways != null) {
            section.put(
                    "oneOf",
                    ways.stream().map(way -> ordered("required", List.of(way))).toList());
        }
        if (known.keys().contains("trusted-from")) {
            section.put(
                    "dependentRequired", ordered("header", List.of("trusted-from"), "trusted-from", List.of("header")));
        }
        return section;
    }

    private Map<String, Object> value(String path, String key) {
        KnownKeys below = at(path);
        KnownKeys named = at(path + ".*");
        KnownKeys listed = at(path + "[]");
        if (below != null) {
            return section(below);
        } else if (named != null) {
            return ordered(
                    "type",
                    "object",
                    "propertyNames",
                    ordered("pattern", NAME),
                    "additionalProperties",
                    section(named));
        } else if (listed != null) {
            boolean isStep = STEPS.contains(path + "[]");
            Map<String, Object> item = section(listed);
            if (listed.equals(PolicyKeys.FILTER)) {
                item.put(
                        "allOf",
                        new TreeMap<>(PolicyKeys.ARGUMENTS)
                                .entrySet().stream().map(this::arguments).toList());
            }
            Map<String, Object> items = isStep ? ordered("anyOf", List.of(TEXT, item)) : item;
            boolean notEmpty = path.equals("routes[].predicates") || path.equals("tenants.identify");
            return notEmpty ? list(items) : any(items);
        } else {
            return leaf(path, key);
        }
    }

    /** What a filter of that name takes; of others nobody knows here. */
    private Map<String, Object> arguments(Map.Entry<String, KnownKeys> filter) {
        Map<String, Object> args = section(filter.getValue());
        Map<String, Object> properties = asMapping(args.get("properties"));
        for (String key : List.copyOf(properties.keySet())) {
            properties.putIfAbsent(KnownKeys.hyphenated(key), properties.get(key));
        }
        Map<String, Object> then = ordered("properties", ordered("args", args));
        if (filter.getKey().equals(FairShareReference.FILTER)) {
            args.put("required", List.of("pool"));
            then.put("required", List.of("args"));
        }
        Map<String, Object> named =
                ordered("properties", ordered("name", ordered("const", filter.getKey())), "required", List.of("name"));
        return ordered("if", named, "then", then);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> asMapping(@Nullable Object value) {
        return (Map<String, Object>) Objects.requireNonNull(value);
    }

    private static @Nullable KnownKeys at(String place) {
        return PolicyKeys.ALL.stream()
                .filter(known -> known.place().equals(place))
                .findFirst()
                .orElse(null);
    }

    /** An argument of a filter is a text to Spring Cloud Gateway, so that a number may as well be in quotes. */
    private static Map<String, Object> argument(String key) {
        return switch (key) {
            case "permits" -> numberOrText(1, PoolSettings.MAX_PERMITS, "^[1-9][0-9]{0,17}$");
            case "units" -> numberOrText(0, Quota.MAX_LIMIT, "^(0|[1-9][0-9]{0,17})$");
            case "max" -> numberOrText(1, Quota.MAX_LIMIT, "^[1-9][0-9]{0,17}$");
            case "per" -> numberOrText(1, Long.MAX_VALUE, "^" + CostReference.SIZE + "$");
            case "response" ->
                orPlaceholder(ordered("type", "string", "pattern", "^(" + CostReference.RESPONSE + ")$"));
            case "onClientLeft" -> orPlaceholder(ordered("enum", List.of("finish", "close")));
            case "maxHold" -> orPlaceholder(ordered("type", "string", "pattern", DURATION));
            default -> TEXT;
        };
    }

    private static Map<String, Object> numberOrText(long least, long most, String pattern) {
        return ordered(
                "anyOf",
                List.of(
                        ordered("type", "integer", "minimum", least, "maximum", most),
                        ordered("type", "string", "pattern", pattern),
                        PLACEHOLDER));
    }

    private static Map<String, Object> leaf(String path, String key) {
        if (path.startsWith("routes[].filters[].args.")) {
            return argument(key);
        }
        return switch (key) {
            case "weight" ->
                orPlaceholder(
                        ordered("type", "number", "exclusiveMinimum", 0, "maximum", (long) ShareSettings.MAX_WEIGHT));
            case "guaranteed", "reserved", "max-waiting" -> orPlaceholder(ordered("type", "integer", "minimum", 0));
            case "max-in-flight" -> orPlaceholder(ordered("type", "integer", "minimum", 1));
            case "permits" ->
                orPlaceholder(ordered("type", "integer", "minimum", 1, "maximum", PoolSettings.MAX_PERMITS));
            case "limit", "burst" ->
                orPlaceholder(ordered("type", "integer", "minimum", 1, "maximum", Quota.MAX_LIMIT));
            case "order" -> orPlaceholder(ordered("type", "integer"));
            case "enforce", "forward", "enabled" -> orPlaceholder(ordered("type", "boolean"));
            case "max-wait", "max-hold", "memory", "max-collect", "max-ttl", "within", "refresh", "skew" ->
                orPlaceholder(ordered("type", "string", "pattern", DURATION));
            case "per" ->
                orPlaceholder(
                        ordered("type", "string", "pattern", "^(hour|day|week|month|total|" + DURATION.substring(2)));
            case "rate-limit-headers" -> orPlaceholder(ordered("enum", List.of("draft", "legacy", "none")));
            case "on-client-left" -> orPlaceholder(ordered("enum", List.of("finish", "close")));
            case "algorithms" ->
                list(ordered("enum", TokenRules.ALGORITHMS.stream().sorted().toList()));
            case "api-keys" -> any(orPlaceholder(ordered("type", "string", "pattern", "^sha256:[0-9a-f]{64}$")));
            case "certificates", "tenants" -> any(TEXT);
            case "trusted-from", "routes" -> list(TEXT);
            case "metadata", "args" -> ordered("type", "object");
            case "name" ->
                path.equals("tenants.identify[].client-certificate.name")
                        ? orPlaceholder(ordered("enum", List.of("subject-cn", "san-dns", "san-uri", "san-email")))
                        : TEXT;
            default -> TEXT;
        };
    }

    private static Map<String, Object> list(Map<String, Object> item) {
        return ordered("type", "array", "items", item, "minItems", 1);
    }

    private static Map<String, Object> any(Map<String, Object> item) {
        return ordered("type", "array", "items", item);
    }

    private static Map<String, Object> orPlaceholder(Map<String, Object> value) {
        return ordered("anyOf", List.of(value, PLACEHOLDER));
    }

    private static Map<String, Object> ordered(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    // ---- what the reference says about its keys ----

    private void describe(Node node, String path, List<String> lines) {
        if (node instanceof SequenceNode list) {
            list.getValue().forEach(item -> describe(item, path + "[]", lines));
        } else if (node instanceof MappingNode mapping) {
            boolean named = at(path + ".*") != null;
            for (NodeTuple entry : mapping.getValue()) {
                Node key = entry.getKeyNode();
                String name = named ? "*" : ((ScalarNode) key).getValue();
                String below = path.isEmpty() ? name : path + "." + name;
                String comment = commentAbove(lines, key.getStartMark().getLine());
                // What is said above a filter or a predicate is about this one, and not about all that have a name.
                boolean isOfOneStep = STEPS.contains(path);
                if (!comment.isEmpty() && !isOfOneStep) {
                    descriptions.putIfAbsent(below, comment);
                }
                describe(entry.getValueNode(), below, lines);
            }
        }
    }

    private static String commentAbove(List<String> lines, int line) {
        List<String> comment = new ArrayList<>();
        for (int i = line - 1; i >= 0 && lines.get(i).strip().startsWith("#"); i--) {
            comment.add(0, lines.get(i).strip().substring(1).strip());
        }
        return String.join(" ", comment);
    }
}

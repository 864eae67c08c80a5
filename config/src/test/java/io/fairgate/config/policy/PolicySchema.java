package io.fairgate.config.policy;

import io.fairgate.config.routes.Cors;
import io.fairgate.config.routes.RouteMetadata;
import io.fairgate.config.yaml.Key;
import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.policy.IdentitySource.Kind;
import io.fairgate.policy.TokenRules;
import io.fairgate.shares.ShareSettings;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * Makes the JSON schema (2020-12) of policy files: its sections and their keys from {@link PolicyKeys}, and what editors show beside a key from the comments of the reference.
 */
final class PolicySchema {

    private static final String NAME = "^[A-Za-z0-9.-][A-Za-z0-9._-]{0,63}$";
    private static final String NATURAL = "^(0|[1-9][0-9]{0,17})$";
    private static final String POSITIVE = "^[1-9][0-9]{0,17}$";
    private static final String DURATION = "^(-?[0-9]+(ms|s|m|h|d)|-?[pP].*)$";

    /** A scheme, and a host without credentials, and no path: {@link UpstreamUri}. */
    private static final String URI = "^([hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[nN][oO])://[^/?#@\\s_]+/?(#.*)?$";

    /** The same for an instance: {@link UpstreamUri}. */
    private static final String INSTANCE = "^([hH][tT][tT][pP][sS]?|[wW][sS][sS]?)://[^/?#@\\s_]+/?(#.*)?$";

    /** What YAML takes for a number or a truth is a text as well where a text is expected. */
    static final List<String> TEXT_TYPES = List.of("string", "number", "boolean");

    static final Map<String, Object> TEXT = ordered("type", TEXT_TYPES);

    /** A value that stands elsewhere may be of any kind. */
    private static final Map<String, Object> PLACEHOLDER = ordered("type", "string", "pattern", "\\$\\{");

    /** Sections of which exactly one of some keys is there. */
    private static final Map<String, List<String>> EXACTLY_ONE = Map.of(
            "routes[]", List.of(Destination.URI, Destination.UPSTREAM, Destination.URIS),
            "tenants.identify[]", Stream.of(Kind.values()).map(Kind::key).toList(),
            "tenants.groups.*.quotas[]", List.of("per", "within"),
            "tenants.plans.*.quotas[]", List.of("per", "within"),
            "tenants.members.*.quotas[]", List.of("per", "within"));

    /** Each says by its name what it is. */
    private static final Set<String> COMPONENTS = Set.of("routes[].predicates[]", "routes[].filters[]");

    private final Map<String, String> descriptions = new LinkedHashMap<>();

    private PolicySchema() {}

    /** The reference with the item that it only shows in a comment: the gateway itself has no such bean. */
    static String withBean(String reference) {
        return reference.replace("    # - bean:", "    - bean:");
    }

    /** @param file the text of the reference file */
    static Map<String, Object> of(String file) {
        String reference = withBean(file);
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
        for (Key key : known.keys()) {
            String path = known.place().isEmpty() ? key.name() : known.place() + "." + key.name();
            Map<String, Object> value = new LinkedHashMap<>();
            String description = descriptions.get(path);
            if (description != null) {
                value.put("description", description);
            }
            value.putAll(value(path, key));
            properties.put(key.name(), value);
        }
        boolean isForFiltersToo = known.equals(RouteMetadata.KEYS);
        Map<String, Object> section =
                ordered("type", "object", "properties", properties, "additionalProperties", isForFiltersToo);
        List<String> required = required(known);
        if (!required.isEmpty()) {
            section.put("required", required);
        }
        List<String> ways = EXACTLY_ONE.get(known.place());
        if (ways != null) {
            section.put(
                    "oneOf",
                    ways.stream().map(way -> ordered("required", List.of(way))).toList());
        }
        if (known.equals(IdentityReader.IDENTITY)) {
            section.put("dependentRequired", ordered("trusted-from", List.of("header")));
        } else if (known.equals(PolicyKeys.TENANTS)) {
            section.put("dependentRequired", ordered("proxy-headers", List.of("trusted-proxies")));
            section.putAll(trustedFromIsRequired());
        }
        return section;
    }

    /** A plain header needs networks, unless it is for the trusted proxies. */
    private static Map<String, Object> trustedFromIsRequired() {
        Map<String, Object> way = ordered("dependentRequired", ordered("header", List.of("trusted-from")));
        return ordered(
                "if",
                ordered("not", ordered("required", List.of("trusted-proxies"))),
                "then",
                ordered("properties", ordered("identify", ordered("items", way))));
    }

    private static List<String> required(KnownKeys known) {
        return known.keys().stream()
                .filter(Key::isRequired)
                .map(Key::name)
                .sorted()
                .toList();
    }

    private Map<String, Object> value(String path, Key key) {
        if (key.type().equals(KeyType.PART) && at(path) != null) {
            return section(Objects.requireNonNull(at(path)));
        } else if (key.type().equals(KeyType.NAMED) && at(path) != null) {
            return section(Objects.requireNonNull(at(path)));
        } else if (key.type().equals(KeyType.NAMED)) {
            KnownKeys named = at(path + ".*");
            return named == null
                    ? ordered("type", "object")
                    : ordered(
                            "type",
                            "object",
                            "propertyNames",
                            ordered("pattern", NAME),
                            "additionalProperties",
                            section(named));
        } else if (key.type().equals(KeyType.LIST)) {
            return any(item(path, key));
        } else if (key.type().equals(KeyType.NOT_EMPTY_LIST)) {
            return list(item(path, key));
        }
        return leaf(path, key);
    }

    private Map<String, Object> item(String path, Key key) {
        KnownKeys listed = at(path + "[]");
        if (listed == null) {
            return key.name().equals("algorithms")
                    ? ordered("enum", TokenRules.ALGORITHMS.stream().sorted().toList())
                    : TEXT;
        }
        Map<String, Object> section = section(listed);
        if (listed.place().endsWith("uris[]")) {
            return ordered("anyOf", List.of(ordered("type", "string", "pattern", INSTANCE), section, PLACEHOLDER));
        } else if (!COMPONENTS.contains(listed.place())) {
            return section;
        }
        ComponentSchema components = new ComponentSchema(listed.equals(PolicyKeys.FILTER));
        List<Map<String, Object>> arguments = new ArrayList<>();
        new TreeMap<>(PolicyKeys.ARGUMENTS).forEach((name, keys) -> {
            if (keys.place().equals(listed.place() + ".args")) {
                components.add(name);
                arguments.add(ComponentSchema.ofName(name, arguments(keys)));
            }
        });
        arguments.addAll(components.arguments());
        section.put("allOf", arguments);
        asMapping(section.get("properties")).put("name", orPlaceholder(ordered("enum", components.names())));
        return ordered("anyOf", List.of(components.shortForm(), section));
    }

    /** What a filter or a predicate of Fairgate takes. */
    private Map<String, Object> arguments(KnownKeys keys) {
        Map<String, Object> args = section(keys);
        Map<String, Object> properties = asMapping(args.get("properties"));
        for (Key key : keys.keys()) {
            String old = Pattern.compile("-([a-z])")
                    .matcher(key.name())
                    .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
            if (!old.equals(key.name())) {
                Map<String, Object> alias =
                        ordered("description", "The old spelling of " + key.name() + ".", "deprecated", true);
                alias.putAll(leaf(keys.place() + "." + key.name(), key));
                properties.put(old, alias);
            }
        }
        Map<String, Object> then = ordered("properties", ordered("args", args));
        if (args.containsKey("required")) {
            then.put("required", List.of("args"));
        }
        return then;
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

    private static Map<String, Object> leaf(String path, Key key) {
        boolean isArgument = path.contains("[].args.");
        KeyType type = key.type();
        if (type instanceof KeyType.Whole whole) {
            return isArgument
                    ? numberOrText(whole.least(), whole.most(), whole.least() == 0 ? NATURAL : POSITIVE)
                    : orPlaceholder(integer(whole));
        } else if (type.equals(KeyType.DECIMAL)) {
            return orPlaceholder(
                    ordered("type", "number", "exclusiveMinimum", 0, "maximum", (long) ShareSettings.MAX_WEIGHT));
        } else if (type.equals(KeyType.TRUTH)) {
            return orPlaceholder(ordered("type", "boolean"));
        } else if (type.equals(KeyType.DURATION)) {
            return orPlaceholder(ordered("type", "string", "pattern", DURATION));
        } else if (type instanceof KeyType.Word word) {
            return orPlaceholder(ordered("enum", word.words()));
        } else if (type instanceof KeyType.Text text) {
            return text(path, text.pattern());
        }
        if (type.equals(Cors.TEXTS)) {
            Map<String, Object> one = ordered("type", TEXT_TYPES, "pattern", "^[^,]*$");
            return ordered("anyOf", List.of(one, any(TEXT)));
        }
        return switch (key.name()) {
            case "allowedMethods" -> {
                Map<String, Object> method = ordered("type", TEXT_TYPES, "pattern", ComponentSchema.METHOD);
                yield ordered("anyOf", List.of(method, any(method)));
            }
            case "maxAge" -> durationOr("", 0);
            case "response-timeout" -> durationOr("none|-?[0-9]+|", Integer.MIN_VALUE);
            case "connect-timeout" -> durationOr("[0-9]+|", 1);
            case "args" -> ordered("type", "object");
            case "api-keys" -> any(orPlaceholder(ordered("type", "string", "pattern", "^sha256:[0-9a-f]{64}$")));
            case "tenants" -> ordered("anyOf", List.of(TEXT, list(TEXT)));
            default -> throw new IllegalStateException(path + ": say here what its schema is, or list its keys in ALL");
        };
    }

    private static Map<String, Object> durationOr(String words, int leastNumber) {
        return ordered(
                "anyOf",
                List.of(
                        ordered("type", "string", "pattern", "^(" + words + DURATION.substring(2)),
                        ordered("type", "integer", "minimum", leastNumber),
                        PLACEHOLDER));
    }

    private static Map<String, Object> integer(KeyType.Whole whole) {
        Map<String, Object> integer = ordered("type", "integer");
        if (whole.least() > Integer.MIN_VALUE) {
            integer.put("minimum", whole.least());
        }
        if (whole.most() != Integer.MAX_VALUE) {
            integer.put("maximum", whole.most());
        }
        return integer;
    }

    private static Map<String, Object> text(String path, String pattern) {
        if (path.equals("routes[].uri")) {
            return orPlaceholder(ordered("type", "string", "pattern", URI));
        } else if (path.endsWith("uris[].uri")) {
            return orPlaceholder(ordered("type", "string", "pattern", INSTANCE));
        } else if (path.equals("upstreams.*.check.path")) {
            return orPlaceholder(ordered("type", "string", "pattern", "^/[!-\"$-~]*$"));
        } else if (path.endsWith("quotas[].per")) {
            return orPlaceholder(
                    ordered("type", "string", "pattern", "^(hour|day|week|month|total|" + DURATION.substring(2)));
        } else if (KeyType.TEXT.equals(new KeyType.Text(pattern))) {
            return TEXT;
        }
        return "1".matches(pattern)
                ? numberOrText(1, Long.MAX_VALUE, "^" + pattern + "$")
                : orPlaceholder(ordered("type", "string", "pattern", "^(" + pattern + ")$"));
    }

    /** An argument of a filter is a text to Spring Cloud Gateway, so that a number may as well be in quotes. */
    private static Map<String, Object> numberOrText(long least, long most, String pattern) {
        return ordered(
                "anyOf",
                List.of(
                        ordered("type", "integer", "minimum", least, "maximum", most),
                        ordered("type", "string", "pattern", pattern),
                        PLACEHOLDER));
    }

    private static Map<String, Object> list(Map<String, Object> item) {
        return ordered("type", "array", "items", item, "minItems", 1);
    }

    static Map<String, Object> any(Map<String, Object> item) {
        return ordered("type", "array", "items", item);
    }

    static Map<String, Object> orPlaceholder(Map<String, Object> value) {
        return ordered("anyOf", List.of(value, PLACEHOLDER));
    }

    static Map<String, Object> ordered(Object... keysAndValues) {
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
                boolean isOfOneComponent = COMPONENTS.contains(path);
                if (!comment.isEmpty() && !isOfOneComponent) {
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

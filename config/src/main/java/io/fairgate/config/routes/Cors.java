package io.fairgate.config.routes;

import static io.fairgate.config.yaml.Key.key;

import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Reads {@code cors} in the metadata of a route. Spring Cloud Gateway reads these keys in camel case only, and ignores all others.
 */
public final class Cors {

    private static final String LIST = "a list such as [a, b]";
    private static final String ORIGINS = "allowedOrigins";
    private static final String CREDENTIALS = "allowCredentials";
    private static final String MAX_AGE = "maxAge";

    /** One text, or a list of texts. A text is never split. */
    public static final KeyType TEXTS = (value, meaning) -> texts(value);

    private static final KeyType METHODS = (value, meaning) -> {
        List<Value> methods = texts(value);
        methods.stream()
                .filter(method -> !"*".equals(method.scalar()))
                .forEach(method -> HttpMethods.check(method, method));
        return methods;
    };

    /** In seconds; a number is in seconds, too. */
    public static final KeyType AGE = (value, meaning) -> {
        String text = value.plainScalar();
        if (text != null && text.matches("0|[1-9][0-9]{0,8}")) {
            return Long.valueOf(text);
        }
        Duration age = DurationText.parse(String.valueOf(value.scalar()));
        if (age == null || age.isNegative()) {
            value.mistake(meaning);
            return null;
        }
        return age.toSeconds();
    };

    public static final KnownKeys KEYS = new KnownKeys(
            "routes[].metadata.cors",
            key(ORIGINS, TEXTS),
            key("allowedOriginPatterns", TEXTS),
            key("allowedMethods", METHODS),
            key("allowedHeaders", TEXTS),
            key("exposedHeaders", TEXTS),
            key(CREDENTIALS, KeyType.TRUTH),
            key(MAX_AGE, AGE, "a duration such as 1h, or a number of seconds"));

    private static final List<String> LISTS =
            List.of(ORIGINS, "allowedOriginPatterns", "allowedMethods", "allowedHeaders", "exposedHeaders");

    /** Predicates that a preflight request does not meet, because a browser sends it without credentials and other headers. */
    private static final Set<String> WITHOUT_PREFLIGHT = Set.of("Header", "Cookie");

    private Cors() {}

    /**
     * Notes mistakes and warnings.
     *
     * @return what Spring Cloud Gateway casts to lists of texts, a truth and a number of seconds
     */
    static Map<String, Object> read(Value value, List<Written> predicates) {
        Section section = Section.open(value, KEYS);
        Map<String, Object> read = new LinkedHashMap<>();
        for (String name : LISTS) {
            if (section.has(name)) {
                read.put(name, section.items(name).stream().map(Written::text).toList());
            }
        }
        if (section.has(CREDENTIALS)) {
            read.put(CREDENTIALS, section.truth(CREDENTIALS, false));
        }
        if (section.has(MAX_AGE)) {
            read.put(MAX_AGE, section.whole(MAX_AGE, 0));
        }
        for (Value origin : section.items(ORIGINS)) {
            if (!Written.text(origin).matches("\\*|null|.*(://|\\$\\{).*")) {
                origin.mistake("an origin with its scheme, such as https://shop.example.com");
            }
        }
        Value origins = section.get(ORIGINS);
        boolean isForAll = section.items(ORIGINS).stream().anyMatch(origin -> "*".equals(origin.scalar()));
        if (origins != null && isForAll && section.truth(CREDENTIALS, false)) {
            origins.mistake("names of origins, or allowedOriginPatterns, because allowCredentials is true");
        }
        predicates.forEach(predicate -> warn(value, predicate));
        if (predicates.stream().noneMatch(predicate -> predicate.name().equals("Path"))) {
            value.warn("for all paths of the gateway, also of other routes, because the route has no Path");
        }
        return read;
    }

    private static void warn(Value cors, Written predicate) {
        List<Value> items = predicate.items();
        if (predicate.name().equals("Path") && items.size() > 1) {
            cors.warn(
                    "only for requests of the first path, %s; Spring Cloud Gateway ignores the others here, so give each a route"
                            .formatted(items.get(0).shown()));
        } else if (predicate.name().equals("Method")
                && items.stream().map(Written::text).noneMatch("OPTIONS"::equals)) {
            cors.warn(
                    "the route takes no preflight request, so browsers send only simple requests; its Method needs OPTIONS");
        } else if (WITHOUT_PREFLIGHT.contains(predicate.name()) && !isOfPreflight(predicate)) {
            cors.warn(
                    "the route takes no preflight request, so browsers send only simple requests; no preflight request meets its predicate %s"
                            .formatted(predicate.name()));
        }
    }

    private static boolean isOfPreflight(Written predicate) {
        String header = predicate.argument(0, "header").toLowerCase(Locale.ROOT);
        return header.equals("origin") || header.startsWith("access-control-");
    }

    /** Notes a mistake for each item that is not a text. */
    private static List<Value> texts(Value value) {
        List<Value> items = value.itemsOrNull();
        if (items == null && String.valueOf(value.scalar()).contains(",")) {
            value.mistake(LIST);
            return List.of();
        }
        List<Value> texts = items == null ? List.of(value) : items;
        for (Value text : texts) {
            if (text.scalar() == null) {
                text.mistake(LIST);
                return List.of();
            }
        }
        return texts;
    }
}

package io.fairgate.config.routes;

import static io.fairgate.config.yaml.Key.key;

import io.fairgate.config.yaml.Key;
import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Suggestions;
import io.fairgate.config.yaml.Value;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the metadata of a route. Spring Cloud Gateway reads times there as numbers of milliseconds, or of seconds, fails or
 * ignores them at the first request if they are none, and ignores what it does not know.
 */
public final class RouteMetadata {

    public static final String FAIR_SHARE = "fair-share";

    private static final String RESPONSE_TIMEOUT = "response-timeout";
    private static final String CONNECT_TIMEOUT = "connect-timeout";
    public static final String CORS = "cors";
    private static final String NONE = "none";

    /** Of what Spring Cloud Gateway takes, the most milliseconds of a connection. */
    private static final Duration LONGEST = Duration.ofDays(24);

    private static final String TIME = DurationText.EXPECTED + ", more than 0 and at most 24d";

    private static final KeyType TIMEOUT = (value, meaning) -> time(value, value.scalar(), meaning);

    /** {@code none}, and numbers below 0 as Spring Cloud Gateway has them, stand for no limit. */
    private static final KeyType TIMEOUT_OR_NONE = (value, meaning) -> {
        String text = value.scalar();
        if (NONE.equals(text)) {
            return -1L;
        } else if (text != null && text.matches("-[1-9][0-9]{0,8}")) {
            value.warn("a number below 0 switches the timeout off; write none");
            return -1L;
        }
        return time(value, text, meaning);
    };

    /** The keys that are read. Others are for filters of a program. */
    public static final KnownKeys KEYS = new KnownKeys(
            "routes[].metadata",
            key(RESPONSE_TIMEOUT, TIMEOUT_OR_NONE, TIME + ", or none"),
            key(CONNECT_TIMEOUT, TIMEOUT, TIME),
            key(FAIR_SHARE, KeyType.TRUTH),
            key(CORS, KeyType.PART));

    private RouteMetadata() {}

    /**
     * Notes mistakes and warnings.
     *
     * @param data the metadata as plain data
     * @param predicates of the route
     * @return the data, with each time as Spring Cloud Gateway reads it
     */
    public static Map<String, Object> read(Map<String, Value> metadata, Map<?, ?> data, List<Written> predicates) {
        List<String> names = KEYS.names();
        metadata.forEach((name, value) -> {
            if (!names.contains(name)) {
                value.warn("nothing in the gateway reads this key (it reads %s%s)"
                        .formatted(String.join(", ", names), Suggestions.didYouMean(name, names)));
            }
        });
        Map<String, Object> read = copy(data);
        for (Key key : KEYS.keys()) {
            Value value = metadata.get(key.name());
            Object typed = value == null ? null : key.type().read(value, key.meaning());
            boolean isTime = key.name().equals(RESPONSE_TIMEOUT) || key.name().equals(CONNECT_TIMEOUT);
            if (isTime && typed instanceof Long millis) {
                read.put(key.name(), millis.intValue());
            }
        }
        Value cors = metadata.get(CORS);
        if (cors != null) {
            read.put(CORS, Cors.read(cors, predicates));
        }
        return read;
    }

    private static Map<String, Object> copy(Map<?, ?> data) {
        Map<String, Object> copy = new LinkedHashMap<>();
        data.forEach((key, value) -> copy.put(String.valueOf(key), value));
        return copy;
    }

    private static @Nullable Long time(Value value, @Nullable String text, String meaning) {
        if (text != null && text.matches("[1-9][0-9]{0,9}") && Long.parseLong(text) <= LONGEST.toMillis()) {
            value.warn("a number of milliseconds; write it with its unit, such as 250ms");
            return Long.valueOf(text);
        }
        Duration time = text == null ? null : DurationText.parse(text);
        if (time == null || time.compareTo(LONGEST) > 0 || time.toMillis() <= 0) {
            value.mistake(meaning);
            return null;
        }
        return time.toMillis();
    }
}

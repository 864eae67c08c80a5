package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Bytes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the bodies of requests. Malformed JSON is a 400, and JSON of the wrong structure a 422, whichever comes first in the
 * body. Unknown fields are ignored.
 *
 * <p>It reads tokens. A tree would hide duplicate fields, and takes more memory than the body; Jackson's binding to records can
 * refuse duplicate fields only together with duplicates of unknown ones, which throttle accepts.
 */
final class JsonBody {

    private static final JsonFactory JSON = new JsonFactory();

    private final JsonParser parser;
    private Duration expiresIn = Duration.ZERO;
    private long peer;
    private Map<String, Long> acquired = Map.of();

    private JsonBody(JsonParser parser) {
        this.parser = parser;
    }

    static long count(byte[] body) {
        return read(body, json -> json.integer(""));
    }

    static Duration expiresIn(byte[] body) {
        return read(body, json -> json.object("expires_in").expiresIn);
    }

    /**
     * The locks that a peer says it held.
     *
     * @param acquired counts by the name of the semaphore
     */
    record Restored(Duration expiresIn, long peer, Map<String, Long> acquired) {}

    static Restored restored(byte[] body) {
        return read(body, json -> {
            json.object("expires_in", "peer_id", "acquired");
            return new Restored(json.expiresIn, json.peer, json.acquired);
        });
    }

    private static <T> T read(byte[] body, Function<JsonBody, T> shape) {
        String text = Bytes.text(body);
        if (text == null) {
            throw ThrottleError.unreadableBody("it is not UTF-8");
        }
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text)) {
            if (parser.nextToken() == null) {
                throw ThrottleError.unreadableBody("it is empty");
            }
            T value = shape.apply(new JsonBody(parser));
            if (parser.nextToken() != null) {
                throw ThrottleError.unreadableBody("unexpected text" + at(parser.currentTokenLocation()));
            }
            return value;
        } catch (JacksonException e) {
            throw ThrottleError.unreadableBody("unexpected text" + at(e.getLocation()));
        }
    }

    private static String at(@Nullable TokenStreamLocation location) {
        return location == null ? "" : " at line %d column %d".formatted(location.getLineNr(), location.getColumnNr());
    }

    // ---- values; each method starts at the token of its value ----

    private JsonBody object(String... names) {
        require(JsonToken.START_OBJECT, "", "an object");
        Set<String> missing = new LinkedHashSet<>(List.of(names));
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            if (!List.of(names).contains(name)) {
                parser.skipChildren();
                continue;
            }
            switch (name) {
                case "expires_in" -> expiresIn = duration(name);
                case "peer_id" -> peer = number(name, "an unsigned integer of 64 bits", Long::parseUnsignedLong);
                default -> acquired = counts(name);
            }
            if (!missing.remove(name)) {
                throw ThrottleError.unsuitableBody("duplicate field `%s`".formatted(name));
            }
        }
        if (!missing.isEmpty()) {
            throw ThrottleError.unsuitableBody(
                    "missing field `%s`".formatted(missing.iterator().next()));
        }
        return this;
    }

    private Duration duration(String field) {
        String expected = "a duration such as 5m";
        Duration duration = HumanDuration.parse(require(JsonToken.VALUE_STRING, field, expected));
        if (duration == null) {
            throw unsuitable(field, expected);
        }
        return duration;
    }

    private long integer(String field) {
        return number(field, "an integer of 64 bits", Long::parseLong);
    }

    private long number(String field, String expected, Function<String, Long> reader) {
        String digits = require(JsonToken.VALUE_NUMBER_INT, field, expected);
        try {
            return reader.apply(digits);
        } catch (NumberFormatException e) {
            throw unsuitable(field, expected);
        }
    }

    private Map<String, Long> counts(String field) {
        require(JsonToken.START_OBJECT, field, "an object");
        Map<String, Long> counts = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String semaphore = parser.currentName();
            parser.nextToken();
            counts.put(semaphore, integer(field));
        }
        return counts;
    }

    private String require(JsonToken token, String field, String expected) {
        if (parser.currentToken() != token) {
            throw unsuitable(field, expected);
        }
        return parser.getString();
    }

    private ThrottleError unsuitable(String field, String expected) {
        String where = field.isEmpty() ? "" : field + ": ";
        return ThrottleError.unsuitableBody(where + "expected " + expected + at(parser.currentTokenLocation()));
    }
}

package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.Bytes;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
 * <p>It reads tokens, because a tree would hide duplicate fields, and takes more memory than the body.
 */
final class JsonBody {

    /** Reads one kind of body into a value. */
    private interface Shape<T> {
        T read(JsonBody body);
    }

    private static final JsonFactory JSON = new JsonFactory();

    private final JsonParser parser;

    private JsonBody(JsonParser parser) {
        this.parser = parser;
    }

    /** A lock count. */
    static long count(byte[] body) {
        return read(body, json -> json.integer(""));
    }

    static Duration expiresIn(byte[] body) {
        return read(body, json -> {
            Fields fields = json.fields("expires_in");
            return fields.expiresIn();
        });
    }

    /**
     * The locks that a peer says it held.
     *
     * @param acquired counts by the name of the semaphore
     */
    record Restored(Duration expiresIn, long peer, Map<String, Long> acquired) {}

    static Restored restored(byte[] body) {
        return read(body, json -> {
            Fields fields = json.fields("expires_in", "peer_id", "acquired");
            return new Restored(
                    fields.expiresIn(),
                    Fields.require("peer_id", fields.peer),
                    Fields.require("acquired", fields.acquired));
        });
    }

    private static <T> T read(byte[] body, Shape<T> shape) {
        try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), text(body))) {
            if (parser.nextToken() == null) {
                throw ThrottleError.unreadableBody("there is none");
            }
            T value = shape.read(new JsonBody(parser));
            if (parser.nextToken() != null) {
                throw ThrottleError.unreadableBody("something follows" + at(parser.currentTokenLocation()));
            }
            return value;
        } catch (JacksonException e) {
            throw ThrottleError.unreadableBody("something else was expected" + at(e.getLocation()));
        }
    }

    private static String text(byte[] body) {
        String text = Bytes.text(body);
        if (text == null) {
            throw ThrottleError.unreadableBody("it is not UTF-8");
        }
        return text;
    }

    private static String at(@Nullable TokenStreamLocation location) {
        return location == null ? "" : " at line %d column %d".formatted(location.getLineNr(), location.getColumnNr());
    }

    // ---- values; each method starts at the token of its value ----

    private long integer(String field) {
        String digits = require(JsonToken.VALUE_NUMBER_INT, field, "an integer of 64 bits");
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            throw unsuitable(field, "an integer of 64 bits");
        }
    }

    private long unsigned(String field) {
        String digits = require(JsonToken.VALUE_NUMBER_INT, field, "an unsigned integer of 64 bits");
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw unsuitable(field, "an unsigned integer of 64 bits");
        }
    }

    private Duration duration(String field) {
        Duration duration = HumanDuration.parse(require(JsonToken.VALUE_STRING, field, "a duration such as 5m"));
        if (duration == null) {
            throw unsuitable(field, "a duration such as 5m");
        }
        return duration;
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

    private Fields fields(String... known) {
        require(JsonToken.START_OBJECT, "", "an object");
        Fields fields = new Fields();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            parser.nextToken();
            boolean isKnown = List.of(known).contains(name);
            if (!isKnown) {
                parser.skipChildren();
            } else if (name.equals("expires_in")) {
                fields.expiresIn = once(name, fields.expiresIn, duration(name));
            } else if (name.equals("peer_id")) {
                fields.peer = once(name, fields.peer, unsigned(name));
            } else {
                fields.acquired = once(name, fields.acquired, counts(name));
            }
        }
        return fields;
    }

    private static <T> T once(String name, @Nullable T before, T now) {
        if (before != null) {
            throw ThrottleError.unsuitableBody("duplicate field `%s`".formatted(name));
        }
        return now;
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

    /** The fields of an object, as far as they have been read. */
    private static final class Fields {
        private @Nullable Duration expiresIn;
        private @Nullable Long peer;
        private @Nullable Map<String, Long> acquired;

        Duration expiresIn() {
            return require("expires_in", expiresIn);
        }

        static <T> T require(String name, @Nullable T value) {
            if (value == null) {
                throw ThrottleError.unsuitableBody("missing field `%s`".formatted(name));
            }
            return value;
        }
    }
}

package io.fairgate.gateway.lease;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.gateway.http.HttpCall;
import io.fairgate.gateway.http.HttpProblem;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.PoolSettings;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The body of a call: one JSON object with known keys. Any other body is refused with what was expected. It is read as a tree:
 * the errors of Jackson's binding to records do not contain the value that was found.
 */
record LeaseBody(JsonNode object) {

    static final int MOST_BYTES = 16 * 1024;

    private static final int MOST_POOLS = 16;
    private static final int MOST_SHOWN = 40;
    private static final Pattern HOLDER = Pattern.compile("[A-Za-z0-9._-]{0,64}");
    private static final String ONE_OBJECT = "one JSON object";

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(4)
                            .maxNumberLength(30)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    /** Prepares the mapper, which builds its readers under a lock: the first body is read on a thread that must not block. */
    static void warmUp() {
        JSON.readTree("{}");
    }

    /** Reads the body. Errors with {@link HttpProblem}; the accessors throw the same. */
    static Mono<LeaseBody> of(HttpCall call, List<String> keys) {
        return Mono.defer(() -> isJson(call.contentType())
                ? call.body(MOST_BYTES, LeaseProblems.BODY_TOO_LONG, LeaseProblems.BODY_TOO_SLOW)
                        .map(bytes -> parsed(bytes, keys))
                : Mono.error(LeaseProblems.CONTENT_TYPE));
    }

    private static boolean isJson(@Nullable MediaType type) {
        return type != null && type.isCompatibleWith(MediaType.APPLICATION_JSON) && type.isConcrete();
    }

    private static LeaseBody parsed(byte[] bytes, List<String> keys) {
        JsonNode root;
        try {
            root = JSON.readTree(bytes);
        } catch (JacksonException e) {
            throw HttpProblem.badRequest("body", cut(e.getOriginalMessage()), ONE_OBJECT);
        }
        if (!root.isObject()) {
            throw wrong("body", root, ONE_OBJECT);
        }
        for (String key : root.propertyNames()) {
            if (!keys.contains(key)) {
                throw HttpProblem.badRequest(cut(key), "unknown key", Suggestions.oneOf(key, keys));
            }
        }
        return new LeaseBody(root);
    }

    int permits() {
        return object.has("permits") ? permits("permits", object.path("permits")) : 1;
    }

    /** By the name of the pool; at least one. The maximum keeps a call from writing much into the logs. */
    Map<String, Integer> pools() {
        JsonNode pools = object.path("pools");
        if (pools.size() > MOST_POOLS) {
            throw HttpProblem.badRequest("pools", pools.size() + " pools", "at most %d".formatted(MOST_POOLS));
        }
        if (!pools.isObject() || pools.isEmpty()) {
            throw wrong("pools", pools, "an object with the number of permits by the name of the pool");
        }
        Map<String, Integer> permits = new LinkedHashMap<>();
        pools.forEachEntry((pool, count) -> permits.put(pool, permits("pools." + cut(pool), count)));
        return permits;
    }

    private static int permits(String key, JsonNode found) {
        boolean fits = found.isIntegralNumber() && found.canConvertToInt();
        if (!fits || found.intValue() < 1 || found.intValue() > PoolSettings.MAX_PERMITS) {
            throw wrong(key, found, "a whole number from 1 to %d".formatted(PoolSettings.MAX_PERMITS));
        }
        return found.intValue();
    }

    boolean namesPools() {
        return object.has("pools");
    }

    @Nullable
    String receipt() {
        return text("receipt", "a string, as received with the lease");
    }

    private @Nullable String text(String key, String expected) {
        JsonNode found = object.path(key);
        if (!found.isMissingNode() && !found.isString()) {
            throw wrong(key, found, expected);
        }
        return found.isMissingNode() ? null : found.stringValue();
    }

    /** More than 0; a longer time than any lease may last is shortened to that. */
    Duration ttl() {
        Duration ttl = duration("ttl", Duration.ofSeconds(30));
        if (ttl.isZero()) {
            throw wrong("ttl", object.path("ttl"), "more than 0");
        }
        return ttl.compareTo(LeaseTerm.LONGEST) < 0 ? ttl : LeaseTerm.LONGEST;
    }

    /** At least 0. */
    Duration maxWait() {
        return duration("maxWait", Duration.ZERO);
    }

    private Duration duration(String key, Duration otherwise) {
        String text = text(key, DurationText.EXPECTED);
        if (text == null) {
            return otherwise;
        }
        // A negative duration that is too large to be represented would be parsed as the longest one.
        Duration duration = text.indexOf('-') < 0 ? DurationText.parse(text) : null;
        if (duration == null) {
            throw wrong(key, object.path(key), DurationText.EXPECTED);
        }
        return duration;
    }

    String holder() {
        String expected = "0 to 64 characters of [A-Za-z0-9._-]";
        String holder = Objects.requireNonNullElse(text("holder", expected), "");
        if (!HOLDER.matcher(holder).matches()) {
            throw wrong("holder", object.path("holder"), expected);
        }
        return holder;
    }

    private static HttpProblem wrong(String key, JsonNode found, String expected) {
        return HttpProblem.badRequest(key, found.isMissingNode() ? "nothing" : cut(found.toString()), expected);
    }

    private static String cut(String text) {
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
    }
}

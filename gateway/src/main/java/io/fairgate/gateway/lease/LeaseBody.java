package io.fairgate.gateway.lease;

import io.fairgate.config.yaml.Suggestions;
import io.fairgate.gateway.http.Call;
import io.fairgate.gateway.http.SlowBodyException;
import io.fairgate.lease.LeaseTerm;
import io.fairgate.permit.PoolSettings;
import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The body of a call: one JSON object with known keys. Any other body is refused with what was expected. */
final class LeaseBody {

    private static final int MOST_BYTES = 16 * 1024;
    private static final int MOST_POOLS = 16;
    private static final int MOST_SHOWN = 40;
    private static final Pattern HOLDER = Pattern.compile("[A-Za-z0-9._-]{0,64}");

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(4)
                            .maxNumberLength(30)
                            .build())
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final JsonNode object;

    private LeaseBody(JsonNode object) {
        this.object = object;
    }

    /** Prepares the mapper, which builds its readers under a lock: the first body is read on a thread that must not block. */
    static void warmUp() {
        JSON.readTree("{}");
    }

    /** Reads the body. Errors with {@link LeaseProblem}; the accessors throw the same. */
    static Mono<LeaseBody> of(Call call, List<String> keys) {
        return Mono.defer(() -> {
            requireJson(call.exchange());
            return call.body(MOST_BYTES)
                    .onErrorMap(DataBufferLimitException.class, e -> LeaseProblem.bodyTooLong(MOST_BYTES))
                    .onErrorMap(SlowBodyException.class, e -> LeaseProblem.bodyTooSlow())
                    .map(bytes -> parsed(bytes, keys));
        });
    }

    private static void requireJson(ServerWebExchange exchange) {
        try {
            MediaType type = exchange.getRequest().getHeaders().getContentType();
            if (type != null && type.isCompatibleWith(MediaType.APPLICATION_JSON) && type.isConcrete()) {
                return;
            }
        } catch (InvalidMediaTypeException e) {
            // Refused like any other type.
        }
        throw LeaseProblem.contentType();
    }

    private static LeaseBody parsed(byte[] bytes, List<String> keys) {
        JsonNode root;
        try {
            root = JSON.readTree(bytes);
        } catch (JacksonException e) {
            throw LeaseProblem.badRequest("body", shown(e.getOriginalMessage()), "one JSON object");
        }
        if (!root.isObject()) {
            throw LeaseProblem.badRequest("body", root.isMissingNode() ? "nothing" : shown(root), "one JSON object");
        }
        for (String key : root.propertyNames()) {
            if (!keys.contains(key)) {
                throw LeaseProblem.badRequest(shown(key), "unknown key", Suggestions.oneOf(key, keys));
            }
        }
        return new LeaseBody(root);
    }

    int permits() {
        JsonNode permits = object.path("permits");
        return permits.isMissingNode() ? 1 : permits("permits", permits);
    }

    /** By the name of the pool; at least one. The maximum keeps a call from writing much into the logs. */
    Map<String, Integer> pools() {
        JsonNode pools = object.path("pools");
        if (pools.size() > MOST_POOLS) {
            throw LeaseProblem.badRequest("pools", pools.size() + " of them", "at most %d".formatted(MOST_POOLS));
        }
        if (!pools.isObject() || pools.isEmpty()) {
            throw LeaseProblem.badRequest(
                    "pools",
                    pools.isMissingNode() ? "nothing" : shown(pools),
                    "an object with the permits of one pool or more by its name");
        }
        Map<String, Integer> permits = new LinkedHashMap<>();
        pools.forEachEntry((pool, count) -> permits.put(pool, permits("pools." + shown(pool), count)));
        return permits;
    }

    boolean namesPools() {
        return object.has("pools");
    }

    /** Null when the body has no receipt. */
    @Nullable
    String receipt() {
        JsonNode found = object.path("receipt");
        if (found.isMissingNode()) {
            return null;
        }
        if (!found.isString()) {
            throw LeaseProblem.badRequest("receipt", shown(found), "a text, as the lease came with it");
        }
        return found.stringValue();
    }

    private static int permits(String key, JsonNode found) {
        boolean fits = found.isIntegralNumber() && found.canConvertToInt();
        if (!fits || found.intValue() < 1 || found.intValue() > PoolSettings.MAX_PERMITS) {
            throw LeaseProblem.badRequest(
                    key, shown(found), "a whole number from 1 to %d".formatted(PoolSettings.MAX_PERMITS));
        }
        return found.intValue();
    }

    /** More than 0; a longer time than any lease may last is shortened to that. */
    Duration ttl() {
        Duration ttl = duration("ttl", Duration.ofSeconds(30));
        if (ttl.isZero()) {
            throw LeaseProblem.badRequest("ttl", shown(object.path("ttl")), "more than 0");
        }
        return ttl.compareTo(LeaseTerm.LONGEST) < 0 ? ttl : LeaseTerm.LONGEST;
    }

    /** At least 0. */
    Duration maxWait() {
        return duration("maxWait", Duration.ZERO);
    }

    private Duration duration(String key, Duration otherwise) {
        JsonNode found = object.path(key);
        if (found.isMissingNode()) {
            return otherwise;
        }
        // A negative duration that is too large to be represented would be parsed as the longest one.
        boolean mayBeOne = found.isString() && found.stringValue().indexOf('-') < 0;
        Duration duration = mayBeOne ? DurationText.parse(found.stringValue()) : null;
        if (duration == null) {
            throw LeaseProblem.badRequest(key, shown(found), DurationText.EXPECTED);
        }
        return duration;
    }

    String holder() {
        JsonNode found = object.path("holder");
        if (found.isMissingNode()) {
            return "";
        }
        if (!found.isString() || !HOLDER.matcher(found.stringValue()).matches()) {
            throw LeaseProblem.badRequest("holder", shown(found), "0 to 64 characters of [A-Za-z0-9._-]");
        }
        return found.stringValue();
    }

    private static String shown(JsonNode node) {
        return shown(node.toString());
    }

    private static String shown(String text) {
        return text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "…";
    }
}

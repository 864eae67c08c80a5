package io.fairgate.gateway.throttle;

import io.fairgate.gateway.http.HttpCall;
import io.fairgate.lease.LeaseId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import reactor.core.publisher.Mono;

/** A request of an identified owner, which is read as throttle reads it. Remembers what has been read, for the audit log. */
public final class ThrottleRequest {

    /** The limit of throttle. */
    private static final int MOST_BODY_BYTES = 2 * 1024 * 1024;

    private static final Pattern UNSIGNED = Pattern.compile("\\+?[0-9]+");

    private final HttpCall call;
    private final PeerOwner owner;
    private @Nullable PeerId peer;
    private Map<String, Long> locks = Map.of();

    ThrottleRequest(HttpCall call, PeerOwner owner) {
        this.call = call;
        this.owner = owner;
    }

    public HttpCall call() {
        return call;
    }

    public PeerOwner owner() {
        return owner;
    }

    /** The peer in the path. */
    PeerId peer() {
        String text = call.part("id");
        Long number = unsigned(text);
        if (number == null) {
            throw ThrottleError.unsuitablePath(
                    call.parts().size() == 1
                            ? "Cannot parse `%s` to a `u64`".formatted(text)
                            : "Cannot parse value at index 0 with value `%s` to a `u64`".formatted(text));
        }
        return peer(number);
    }

    PeerId peer(long number) {
        PeerId found = new PeerId(owner, number);
        peer = found;
        return found;
    }

    private static @Nullable Long unsigned(String text) {
        try {
            return UNSIGNED.matcher(text).matches() ? Long.parseUnsignedLong(text) : null;
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }

    /** The lease of the peer that the request names, once that has been read; otherwise null. */
    public @Nullable LeaseId lease() {
        return peer == null ? null : peer.lease();
    }

    /** The requested counts by the name of the semaphore, once they have been read. */
    public Map<String, Long> locks() {
        return locks;
    }

    void asksFor(Map<String, Long> requested) {
        locks = requested;
    }

    /** A parameter of the query, where a plus is a space; null when it is missing. Unknown parameters are ignored. */
    @Nullable
    String text(String name) {
        List<String> values = call.exchange().getRequest().getQueryParams().getOrDefault(name, List.of());
        if (values.size() > 1) {
            throw ThrottleError.unsuitableQuery("duplicate field `%s`".formatted(name));
        }
        return values.isEmpty() ? null : Objects.requireNonNullElse(values.get(0), "");
    }

    @Nullable
    Duration duration(String name) {
        String text = text(name);
        Duration duration = text == null ? null : HumanDuration.parse(text);
        if (text != null && duration == null) {
            throw ThrottleError.unsuitableQuery(name + ": expected a duration such as 5m");
        }
        return duration;
    }

    <T> Mono<T> body(Function<byte[], T> reader) {
        return isJson(call.contentType())
                ? call.body(MOST_BODY_BYTES, ThrottleError.BODY_TOO_LARGE, ThrottleError.BODY_TOO_SLOW)
                        .map(reader)
                : Mono.error(ThrottleError.NOT_JSON);
    }

    private static boolean isJson(@Nullable MediaType type) {
        return type != null
                && type.getType().equals("application")
                && (type.getSubtype().equals("json") || "json".equals(type.getSubtypeSuffix()));
    }
}

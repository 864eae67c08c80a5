package io.fairgate.gateway.throttle;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The query of a request, decoded as a form: a plus is a space. Unknown parameters are ignored. */
final class Query {

    private record Parameter(String name, String value) {}

    private final List<Parameter> parameters = new ArrayList<>();

    /** @param raw the encoded query; null for none */
    Query(@Nullable String raw) {
        for (String part : raw == null ? new String[0] : raw.split("&")) {
            int equals = part.indexOf('=');
            parameters.add(new Parameter(
                    decoded(equals < 0 ? part : part.substring(0, equals)),
                    decoded(equals < 0 ? "" : part.substring(equals + 1))));
        }
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw ThrottleError.unsuitableQuery("a percent sign stands alone");
        }
    }

    /** Null when the parameter is missing. */
    @Nullable
    String text(String name) {
        List<String> values = parameters.stream()
                .filter(parameter -> parameter.name.equals(name))
                .map(Parameter::value)
                .toList();
        if (values.size() > 1) {
            throw ThrottleError.unsuitableQuery("duplicate field `%s`".formatted(name));
        }
        return values.isEmpty() ? null : values.get(0);
    }

    String requireText(String name) {
        String text = text(name);
        if (text == null) {
            throw ThrottleError.unsuitableQuery("missing field `%s`".formatted(name));
        }
        return text;
    }

    /** Null when the parameter is missing. */
    @Nullable
    Duration duration(String name) {
        String text = text(name);
        Duration duration = text == null ? null : HumanDuration.parse(text);
        if (text != null && duration == null) {
            throw ThrottleError.unsuitableQuery(name + ": expected a duration such as 5m");
        }
        return duration;
    }
}

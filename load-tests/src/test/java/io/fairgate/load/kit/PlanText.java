package io.fairgate.load.kit;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.exc.InvalidFormatException;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Values that a plan writes as a text. */
final class PlanText<T> extends StdScalarDeserializer<T> {

    private static final long serialVersionUID = 1L;
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    private final transient Function<String, T> parse;

    /** @param parse throws an {@code IllegalArgumentException} with what was expected */
    PlanText(Class<T> type, Function<String, T> parse) {
        super(type);
        this.parse = parse;
    }

    @Override
    @SuppressWarnings("unchecked")
    public T deserialize(JsonParser parser, DeserializationContext context) throws IOException {
        String text = parser.getValueAsString();
        try {
            if (text != null) {
                return parse.apply(text.strip());
            }
            throw new IllegalArgumentException("a text");
        } catch (IllegalArgumentException e) {
            String found = text == null ? parser.currentToken().toString() : text;
            throw InvalidFormatException.from(
                    parser, found + " (expected: " + e.getMessage() + ")", found, (Class<T>) handledType());
        }
    }

    /** A time with its unit, such as {@code 500ms}. */
    static Duration duration(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a time with its unit, such as 500ms, 30s, 10m or 1h");
        }
        long number = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            default -> Duration.ofHours(number);
        };
    }
}

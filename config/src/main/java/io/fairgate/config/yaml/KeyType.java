package io.fairgate.config.yaml;

import io.fairgate.time.DurationText;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The type of the value of a key. */
@FunctionalInterface
public interface KeyType {

    /** Plain decimal digits only: YAML 1.1 reads {@code 010} as 8 and {@code 1:30} as 90, which is not intended. */
    Pattern WHOLE_NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,17})");

    Pattern DECIMAL_NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]{1,3})?");

    KeyType TEXT = new Text("(?s).*");

    KeyType DECIMAL = (value, meaning) -> {
        String scalar = value.plainScalar();
        return scalar == null || !DECIMAL_NUMBER.matcher(scalar).matches()
                ? refused(value, "a number such as 4 or 0.5")
                : Double.valueOf(scalar);
    };

    KeyType TRUTH = (value, meaning) -> {
        String scalar = value.plainScalar();
        return "true".equals(scalar) || "false".equals(scalar)
                ? Boolean.valueOf(scalar)
                : refused(value, "true or false");
    };

    KeyType DURATION = (value, meaning) -> {
        String scalar = value.scalar();
        Duration duration = scalar == null ? null : DurationText.parse(scalar);
        return duration == null ? refused(value, DurationText.EXPECTED) : duration;
    };

    KeyType LIST = (value, meaning) -> {
        List<Value> items = value.itemsOrNull();
        return items == null ? refused(value, meaning) : items;
    };

    KeyType NOT_EMPTY_LIST = (value, meaning) -> {
        List<Value> items = value.itemsOrNull();
        return items == null || items.isEmpty() ? refused(value, meaning) : items;
    };

    /** A mapping whose keys are names of the operator's choice. */
    KeyType NAMED = (value, meaning) -> {
        Map<String, Value> entries = value.entriesOrNull();
        return entries == null ? refused(value, meaning) : entries;
    };

    /** Anything; the reader of that part checks it. */
    KeyType PART = (value, meaning) -> null;

    /** The typed value. Notes a mistake and returns null when the value is not of this type. */
    @Nullable
    Object read(Value value, String meaning);

    private static @Nullable Object refused(Value value, String expected) {
        value.mistake(expected);
        return null;
    }

    /** A text. A value that YAML reads as a number or a boolean is a text as well: {@code no} may name a tenant. */
    record Text(String pattern) implements KeyType {
        @Override
        public @Nullable Object read(Value value, String meaning) {
            String text = value.text(meaning);
            return text == null || text.matches(pattern) ? text : refused(value, meaning);
        }
    }

    record Whole(long least, long most) implements KeyType {
        @Override
        public @Nullable Object read(Value value, String meaning) {
            String scalar = value.plainScalar();
            if (scalar == null || !scalar.matches("-?(0|[1-9][0-9]*)")) {
                return refused(value, "a whole number in plain decimal digits");
            }
            Long whole = WHOLE_NUMBER.matcher(scalar).matches() ? Long.valueOf(scalar) : null;
            if (whole == null || whole < least || whole > most) {
                boolean isOpen = most == Integer.MAX_VALUE && whole != null && whole < least;
                return refused(value, isOpen ? "at least " + least : "%d to %d".formatted(least, most));
            }
            return whole;
        }
    }

    /** The name of a constant in lower case, with hyphens. */
    record Word(Class<? extends Enum<?>> constants) implements KeyType {
        @Override
        public @Nullable Object read(Value value, String meaning) {
            String text = value.scalar();
            int index = text == null ? -1 : words().indexOf(text);
            return index < 0
                    ? refused(value, "one of " + String.join(", ", words()))
                    : constants.getEnumConstants()[index];
        }

        public List<String> words() {
            return Arrays.stream(constants.getEnumConstants())
                    .map(constant -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                    .toList();
        }
    }
}

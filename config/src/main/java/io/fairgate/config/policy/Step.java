package io.fairgate.config.policy;

import io.fairgate.config.yaml.KnownKeys;
import io.fairgate.config.yaml.Nearest;
import io.fairgate.config.yaml.Section;
import io.fairgate.config.yaml.Value;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A predicate or a filter of a route, written as {@code Name=argument,argument} or with {@code name} and {@code args}.
 *
 * @param arguments what follows the equals sign of the short form; null in the long form
 * @param args the arguments of the long form, when it has any
 */
record Step(
        Value value,
        String name,
        @Nullable String arguments,
        @Nullable Value args) {

    /**
     * The arguments of the long form by their own names, whether spelt {@code maxHold} or {@code max-hold}. An unknown
     * argument is a mistake.
     */
    Map<String, Value> argumentsByName() {
        List<String> known =
                Objects.requireNonNull(PolicyKeys.ARGUMENTS.get(name), name).keys();
        Map<String, Value> given = args == null || !args.isMapping() ? null : args.entries("");
        Map<String, Value> byName = new HashMap<>();
        (given == null ? Map.<String, Value>of() : given).forEach((key, argument) -> {
            String own = known.stream()
                    .filter(each -> key.equals(each) || key.equals(KnownKeys.hyphenated(each)))
                    .findFirst()
                    .orElse(null);
            if (own == null) {
                argument.mistake("unknown key", Nearest.oneOf(key, known));
            } else if (byName.putIfAbsent(own, argument) != null) {
                argument.mistake("a second time", "once, as " + own);
            }
        });
        return byName;
    }

    /** Notes a mistake and returns null when the value has neither form. */
    static @Nullable Step read(Value value, KnownKeys keys, String expected) {
        if (value.isMapping()) {
            Section section = Section.open(value, keys);
            Value name = section == null ? null : section.require("name", expected);
            String text = name == null ? null : name.text(expected);
            Value args = section == null ? null : section.get("args");
            if (args != null) {
                args.entries("a mapping of arguments");
            }
            return text == null ? null : new Step(value, text, null, args);
        }
        String text = value.text(expected);
        if (text == null) {
            return null;
        }
        int equals = text.indexOf('=');
        return equals < 0
                ? new Step(value, text, "", null)
                : new Step(value, text.substring(0, equals), text.substring(equals + 1), null);
    }
}

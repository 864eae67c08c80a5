package io.fairgate.config;

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

    /** Null, and a mistake, when it is neither. */
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

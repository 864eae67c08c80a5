package io.fairgate.config.routes;

import io.fairgate.config.yaml.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A filter or a predicate as a route writes it.
 *
 * @param value the whole of it
 * @param isShort whether it is written as {@code Name=argument,argument}
 * @param arguments in the order of the file: by name, or by {@link Component#POSITION} and the position in the short form
 */
public record Written(Value value, String name, boolean isShort, Map<String, Value> arguments) {

    /** The place of a mistake about a part: in the short form the whole has a key, and its parts have none. */
    Value place(Value part) {
        return isShort ? value : part;
    }

    /** A scalar, as Spring Cloud Gateway reads it; in the long form with the space around it. */
    static String text(Value value) {
        return String.valueOf(value.scalar());
    }

    /** The text of an argument, by its position in the short form or its name in the long form; empty without it. */
    String argument(int position, String longForm) {
        Value given = given(position, longForm);
        return given == null || given.scalar() == null ? "" : text(given);
    }

    @Nullable
    Value given(int position, String longForm) {
        String byPosition = Component.POSITION + position;
        return arguments.entrySet().stream()
                .filter(argument -> argument.getKey().equals(byPosition)
                        || argument.getKey().equals(longForm))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }

    /** The texts of {@link #items}. */
    public List<String> texts() {
        return items().stream().map(Written::text).toList();
    }

    /** The values of a predicate whose arguments are one list, without the flag at the end of a {@code Path}. */
    List<Value> items() {
        List<Value> items = all();
        if (!flag().isEmpty()) {
            items.remove(items.size() - 1);
        }
        return items;
    }

    /** Whether a slash at the end of a path makes no difference, as the {@code Path} says; empty if it does not say. */
    String flag() {
        List<Value> all = all();
        Value last = all.isEmpty() ? value : all.get(all.size() - 1);
        return name.equals("Path") && isFlag(last) ? text(last) : "";
    }

    /** Whether Spring Cloud Gateway evaluates the text (SpEL), so that its value is not known here. */
    static boolean isExpression(String text) {
        return text.startsWith("#{");
    }

    static boolean isFlag(Value value) {
        return text(value).equalsIgnoreCase("true") || text(value).equalsIgnoreCase("false");
    }

    private List<Value> all() {
        List<Value> all = new ArrayList<>();
        arguments.values().forEach(given -> {
            List<Value> several = given.itemsOrNull();
            all.addAll(several == null ? List.of(given) : several);
        });
        return all;
    }
}

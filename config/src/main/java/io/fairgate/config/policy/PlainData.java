package io.fairgate.config.policy;

import io.fairgate.config.yaml.Value;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * A part of the file as plain maps, lists, strings, numbers and booleans, which another module binds to its own types.
 */
final class PlainData {
    private PlainData() {}

    /**
     * The entries of a mapping, without those that have mistakes. Notes a mistake and returns null for another value.
     */
    static @Nullable Map<String, Object> entries(Value value) {
        Map<String, Value> entries = value.entries("a mapping");
        if (entries == null) {
            return null;
        }
        Map<String, Object> plain = new LinkedHashMap<>();
        entries.forEach((key, entry) -> {
            Object data = of(entry);
            if (data != null) {
                plain.put(key, data);
            }
        });
        return Collections.unmodifiableMap(plain);
    }

    private static @Nullable Object of(Value value) {
        if (value.isMapping()) {
            return entries(value);
        }
        if (value.isList()) {
            return items(value);
        }
        String text = value.scalar();
        if (text == null) {
            value.mistake("a value");
            return null;
        }
        return value.plainScalar() == null ? text : scalar(value, text);
    }

    private static List<Object> items(Value value) {
        List<Value> items = value.items("a list");
        List<Object> plain = new ArrayList<>();
        for (Value item : items == null ? List.<Value>of() : items) {
            Object data = of(item);
            if (data != null) {
                plain.add(data);
            }
        }
        return Collections.unmodifiableList(plain);
    }

    /**
     * Only a text that every version of YAML reads alike becomes a number or a boolean. Any other stays a text, which
     * its binder can still convert.
     */
    private static Object scalar(Value value, String text) {
        Tag tag = value.node().getTag();
        if (tag.equals(Tag.INT) && Value.WHOLE.matcher(text).matches()) {
            long whole = Long.parseLong(text);
            return whole == (int) whole ? (Object) (int) whole : (Object) whole;
        }
        if (tag.equals(Tag.FLOAT) && Value.DECIMAL.matcher(text).matches()) {
            return Double.valueOf(text);
        }
        if (tag.equals(Tag.BOOL) && (text.equals("true") || text.equals("false"))) {
            return Boolean.valueOf(text);
        }
        return text;
    }
}

package io.fairgate.config.policy;

import io.fairgate.config.yaml.KeyType;
import io.fairgate.config.yaml.Value;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.nodes.Tag;

/** A part of the file as plain maps, lists, strings, numbers and booleans, which another module binds. */
final class PlainData {
    private PlainData() {}

    /** The entries of a mapping that have no mistakes. Notes a mistake and returns null for another value. */
    static @Nullable Map<String, Object> entries(Value value) {
        Map<String, Value> entries = value.entriesOrNull();
        if (entries == null) {
            value.mistake("a mapping");
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

    /** The same data with another value for one key. */
    static Map<String, Object> with(Map<String, Object> data, String key, Object value) {
        Map<String, Object> copy = new LinkedHashMap<>(data);
        copy.put(key, value);
        return Collections.unmodifiableMap(copy);
    }

    /** The same data without some keys. */
    static Map<String, Object> without(Map<String, Object> data, String... keys) {
        Map<String, Object> copy = new LinkedHashMap<>(data);
        copy.keySet().removeAll(List.of(keys));
        return Collections.unmodifiableMap(copy);
    }

    private static @Nullable Object of(Value value) {
        if (value.isMapping()) {
            return entries(value);
        }
        List<Value> items = value.itemsOrNull();
        if (items != null) {
            return items.stream().map(PlainData::of).filter(Objects::nonNull).toList();
        }
        String text = value.scalar();
        if (text == null) {
            value.mistake(value.isList() ? "a list" : "a value");
            return null;
        }
        return value.plainScalar() == null ? text : scalar(value.node().getTag(), text);
    }

    /** Only what every version of YAML reads alike is a number or a boolean. Its binder converts other texts. */
    private static Object scalar(Tag tag, String text) {
        if (tag.equals(Tag.INT) && KeyType.WHOLE_NUMBER.matcher(text).matches()) {
            long whole = Long.parseLong(text);
            return whole == (int) whole ? (Object) (int) whole : (Object) whole;
        } else if (tag.equals(Tag.FLOAT) && KeyType.DECIMAL_NUMBER.matcher(text).matches()) {
            return Double.valueOf(text);
        } else if (tag.equals(Tag.BOOL) && (text.equals("true") || text.equals("false"))) {
            return Boolean.valueOf(text);
        }
        return text;
    }
}

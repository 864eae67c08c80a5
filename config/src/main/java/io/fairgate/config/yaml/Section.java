package io.fairgate.config.yaml;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.nodes.ScalarNode;

/**
 * A mapping with a fixed set of keys, and the values of their declared types. An unknown key, a value of another type and
 * a required key that is missing are noted as mistakes; such a value counts as absent.
 */
public final class Section {
    private final Value value;
    private final Map<String, Value> entries;
    private final Map<String, Object> typed = new HashMap<>();
    private final Set<String> misspelt = new HashSet<>();
    private final boolean isMapping;
    private @Nullable Section inherited;
    private String origin = "";

    private Section(Value value, @Nullable Map<String, Value> entries, KnownKeys known) {
        this.value = value;
        this.entries = entries == null ? Map.of() : entries;
        this.isMapping = entries != null;
        List<String> names = known.names();
        this.entries.forEach((name, entry) -> {
            if (!names.contains(name)) {
                String nearest = Suggestions.nearest(name, names);
                if (nearest != null) {
                    misspelt.add(nearest);
                }
                entry.mistake("unknown key", Suggestions.oneOf(name, names));
            }
        });
        for (Key key : known.keys()) {
            Value entry = this.entries.get(key.name());
            Object read = entry == null ? null : key.type().read(entry, key.meaning());
            if (read != null) {
                typed.put(key.name(), read);
            } else if (key.isRequired() && !mentions(key.name())) {
                mistake(key.name(), "missing", key.meaning());
            }
        }
    }

    /** Opens a mapping. A value that is not a mapping is a mistake, and gives a section without keys. */
    public static Section open(Value value, KnownKeys known) {
        Map<String, Value> entries = value.entriesOrNull();
        if (entries == null) {
            value.mistake(known.expected());
        } else if (value.mistakes().areOfProperties()) {
            entries = PropertyNodes.byKnownName(entries, known.names());
        }
        return new Section(value, entries, known);
    }

    /**
     * Opens the arguments of a filter or a predicate. Spring reads each of them as a text, so quotes make no difference.
     * Earlier versions wrote them in camel case, which is still allowed, with a warning.
     */
    public static Section ofArguments(Value value, Map<String, Value> given, KnownKeys known) {
        List<String> names = known.names();
        Map<String, Value> arguments = new LinkedHashMap<>();
        given.forEach((name, argument) -> {
            String hyphenated = name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
            String key = names.contains(hyphenated) ? hyphenated : name;
            if (!key.equals(name)) {
                argument.warn("old spelling, which still works; use " + key);
            }
            Value unquoted = argument.node() instanceof ScalarNode scalar
                    ? argument.with(new UnquotedScalar(scalar, scalar.getValue()))
                    : argument;
            if (arguments.putIfAbsent(key, unquoted) != null) {
                argument.mistake("a second time", "once, as " + key);
            }
        });
        return new Section(value, arguments, known);
    }

    /**
     * Takes the values of another section for the keys that this one does not have.
     *
     * @param origin where they come from, for mistakes
     */
    public void inherit(Section inherited, String origin) {
        this.inherited = inherited;
        this.origin = origin;
    }

    /** The place of the section, for a mistake about another one. */
    public String place() {
        return value.place();
    }

    /** The value of a key of this section, of whatever type it is. */
    @Nullable
    public Value get(String key) {
        return entries.get(key);
    }

    /** Whether the key is present, or was probably intended but is misspelt or merged. */
    public boolean mentions(String key) {
        return !isMapping || entries.containsKey(key) || misspelt.contains(key) || value.isMerged();
    }

    /** Whether the key has a value of its type, here or where this section inherits from. */
    public boolean has(String key) {
        return find(key) != null;
    }

    public int integer(String key, int otherwise) {
        return find(key) instanceof Long given ? given.intValue() : otherwise;
    }

    public long whole(String key, long otherwise) {
        return find(key) instanceof Long given ? given : otherwise;
    }

    public double decimal(String key, double otherwise) {
        return find(key) instanceof Double given ? given : otherwise;
    }

    public Duration duration(String key, Duration otherwise) {
        return find(key) instanceof Duration given ? given : otherwise;
    }

    @Nullable
    public Duration duration(String key) {
        return find(key) instanceof Duration given ? given : null;
    }

    public String text(String key, String otherwise) {
        return find(key) instanceof String given ? given : otherwise;
    }

    @Nullable
    public String text(String key) {
        return find(key) instanceof String given ? given : null;
    }

    public boolean truth(String key, boolean otherwise) {
        return find(key) instanceof Boolean given ? given : otherwise;
    }

    public <E extends Enum<E>> E word(String key, E otherwise) {
        Object given = find(key);
        return given == null ? otherwise : otherwise.getDeclaringClass().cast(given);
    }

    /** The items of a list; none when the key is absent or has a mistake. */
    @SuppressWarnings("unchecked")
    public List<Value> items(String key) {
        return (List<Value>) typed.getOrDefault(key, List.of());
    }

    /** The entries of a mapping in the order of the file; none when the key is absent or has a mistake. */
    @SuppressWarnings("unchecked")
    public Map<String, Value> entries(String key) {
        return (Map<String, Value>) typed.getOrDefault(key, Map.of());
    }

    /** The names that a mapping defines, including names with mistakes; null when they cannot be determined. */
    public @Nullable Set<String> names(String key) {
        return typed.containsKey(key) || !mentions(key) ? entries(key).keySet() : null;
    }

    private @Nullable Object find(String key) {
        Object own = typed.get(key);
        return own != null || inherited == null ? own : inherited.find(key);
    }

    /**
     * The record, made of the values that it accepts: each value that it refuses is noted as a mistake and removed.
     * Null when it refuses a value that this section does not have, such as an inherited one.
     */
    public <T> @Nullable T accepted(Function<Section, T> record) {
        while (true) {
            try {
                return record.apply(this);
            } catch (IllegalArgumentException e) {
                InvalidValue invalid = InvalidValue.of(e);
                if (typed.remove(invalid.key()) == null) {
                    mistake(
                            invalid.key(),
                            "%s %s".formatted(invalid.found(), origin).strip(),
                            invalid.expected());
                    return null;
                }
                mistake(invalid.key(), invalid);
            }
        }
    }

    /** Notes a mistake at a key, or at the section when the key is absent. */
    public void mistake(String key, String found, String expected) {
        Value entry = entries.get(key);
        value.mistakes().add(entry == null ? value.mark() : entry.mark(), value.pathTo(key), found, expected);
    }

    /** Notes that a record refused the value of a key. */
    public void mistake(String key, InvalidValue invalid) {
        Value entry = entries.get(key);
        mistake(key, entry == null ? invalid.found() : entry.shown(), invalid.expected());
    }

    /** Notes a warning at a key, or at the section when the key is absent. */
    public void warn(String key, String text) {
        Value entry = entries.get(key);
        value.mistakes().warn(entry == null ? value.mark() : entry.mark(), value.pathTo(key), text);
    }
}

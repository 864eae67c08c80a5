package io.fairgate.config.yaml;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A mapping of the file with a fixed set of keys. */
public final class Section {
    private final Value value;
    private final Map<String, Value> entries;
    private final Set<String> misspelt = new HashSet<>();

    private Section(Value value, Map<String, Value> given, KnownKeys known) {
        this.value = value;
        this.entries = value.mistakes().areOfProperties() ? PropertyNodes.byKnownName(given, known) : given;
        entries.forEach((key, entry) -> {
            if (!known.keys().contains(key)) {
                String nearest = Nearest.to(key, known.keys());
                if (nearest != null) {
                    misspelt.add(nearest);
                }
                entry.mistake("unknown key", Nearest.oneOf(key, known.keys()));
            }
        });
    }

    /**
     * Opens a mapping, and notes a mistake for every unknown key. Notes a mistake and returns null when the value is
     * not a mapping.
     */
    public static @Nullable Section open(Value value, KnownKeys known) {
        Map<String, Value> entries = value.entries(known.expected());
        return entries == null ? null : new Section(value, entries, known);
    }

    /** The place of the section, for a mistake about another one. */
    public String place() {
        return value.place();
    }

    @Nullable
    public Value get(String key) {
        return entries.get(key);
    }

    /**
     * Notes a mistake when the key is absent, unless an unknown key looks like a misspelling of it or the mapping has a
     * merge key: those are noted already.
     */
    @Nullable
    public Value require(String key, String expected) {
        Value found = entries.get(key);
        if (found == null && !mentions(key)) {
            mistake(key, "missing", expected);
        }
        return found;
    }

    /** Whether the key is present, or was probably intended but misspelt or merged. */
    public boolean mentions(String key) {
        return entries.containsKey(key) || misspelt.contains(key) || value.isMerged();
    }

    /** Notes a mistake at a key, or at the section when the key is absent. */
    public void mistake(String key, String found, String expected) {
        Value entry = entries.get(key);
        value.mistakes().add(entry == null ? value.mark() : entry.mark(), value.pathTo(key), found, expected);
    }

    /** Notes a warning at a key, or at the section when the key is absent. */
    public void warn(String key, String text) {
        Value entry = entries.get(key);
        value.mistakes().warn(entry == null ? value.mark() : entry.mark(), value.pathTo(key), text);
    }

    /** Notes that a record refused the value of a key. */
    public void mistake(String key, Refusal refusal) {
        Value entry = entries.get(key);
        mistake(key, entry == null ? refusal.found() : entry.shown(), refusal.expected());
    }
}

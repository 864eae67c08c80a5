package io.fairgate.config.yaml;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The typed values that a section gives for the keys of one record of the core, and the values that it inherits.
 *
 * <p>A record refuses one value at a time. To report all mistakes at once, each refused value is noted as a mistake and
 * removed, until the record accepts the rest.
 */
public final class Given {
    private final Section section;
    private final @Nullable Given inherited;
    private final String origin;
    private final Map<String, Object> values = new HashMap<>();

    public Given(Section section) {
        this(section, null, "");
    }

    /** @param origin where the inherited values come from, for mistakes */
    public Given(Section section, @Nullable Given inherited, String origin) {
        this.section = section;
        this.inherited = inherited;
        this.origin = origin;
    }

    /** Reads the value of a key. A value of another type is noted as a mistake and counts as absent. */
    public Given read(String key, Function<Value, @Nullable Object> type) {
        Value value = section.get(key);
        Object read = value == null ? null : type.apply(value);
        if (read != null) {
            values.put(key, read);
        }
        return this;
    }

    public boolean has(String key) {
        return get(key) != null;
    }

    public int integer(String key, int otherwise) {
        return get(key) instanceof Integer given ? given : otherwise;
    }

    public long whole(String key, long otherwise) {
        return get(key) instanceof Long given ? given : otherwise;
    }

    public double decimal(String key, double otherwise) {
        return get(key) instanceof Double given ? given : otherwise;
    }

    public Duration duration(String key, Duration otherwise) {
        return get(key) instanceof Duration given ? given : otherwise;
    }

    @Nullable
    public Duration durationIfGiven(String key) {
        return get(key) instanceof Duration given ? given : null;
    }

    public String text(String key, String otherwise) {
        return get(key) instanceof String given ? given : otherwise;
    }

    public boolean truth(String key, boolean otherwise) {
        return get(key) instanceof Boolean given ? given : otherwise;
    }

    /**
     * The record, made of the values that it accepts. Notes a mistake and returns null when it refuses a value that
     * this section does not give, such as an inherited one.
     */
    public <T> @Nullable T accepted(Function<Given, T> record) {
        while (true) {
            try {
                return record.apply(this);
            } catch (IllegalArgumentException e) {
                Refusal refusal = Refusal.of(e);
                if (values.remove(refusal.key()) == null) {
                    section.mistake(
                            refusal.key(),
                            "%s %s".formatted(refusal.found(), origin).strip(),
                            refusal.expected());
                    return null;
                }
                section.mistake(refusal.key(), refusal);
            }
        }
    }

    private @Nullable Object get(String key) {
        Object own = values.get(key);
        return own != null || inherited == null ? own : inherited.get(key);
    }
}

package io.fairgate.config.yaml;

import java.util.List;
import java.util.Locale;

/**
 * The keys that one part of a policy may hold.
 *
 * @param place the path of the mappings that hold these keys; {@code *} stands for a name, {@code []} for any index
 * @param expected the expectation in a mistake about a value that is not such a mapping
 */
public record KnownKeys(String place, List<String> keys, String expected) {

    public KnownKeys(String place, List<String> keys) {
        this(place, keys, "a mapping with " + (keys.size() == 1 ? "" : "keys of ") + String.join(", ", keys));
    }

    public KnownKeys {
        keys = List.copyOf(keys);
    }

    /** The other spelling of an argument: {@code max-hold} for {@code maxHold}. */
    public static String hyphenated(String argument) {
        return argument.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }
}

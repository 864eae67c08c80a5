package io.fairgate.config.yaml;

import java.util.List;
import java.util.stream.Stream;

/**
 * The keys that one part of a policy may hold.
 *
 * @param place the path of the mappings that hold these keys; {@code *} stands for a name, {@code []} for any index
 */
public record KnownKeys(String place, List<Key> keys) {

    public KnownKeys(String place, Key... keys) {
        this(place, List.of(keys));
    }

    /** The same keys at another place. */
    public KnownKeys at(String other) {
        return new KnownKeys(other, keys);
    }

    public KnownKeys and(List<Key> more) {
        return new KnownKeys(place, Stream.concat(keys.stream(), more.stream()).toList());
    }

    public KnownKeys without(String... names) {
        List<String> left = List.of(names);
        return new KnownKeys(
                place, keys.stream().filter(key -> !left.contains(key.name())).toList());
    }

    public List<String> names() {
        return keys.stream().map(Key::name).toList();
    }

    /** The expectation in a mistake about a value that is not a mapping with these keys. */
    public String expected() {
        return "a mapping with " + (keys.size() == 1 ? "" : "keys of ") + String.join(", ", names());
    }
}

package io.fairgate.gateway.throttle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tomlj.Toml;
import org.tomlj.TomlParseError;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlPosition;
import org.tomlj.TomlTable;

/**
 * The configuration of throttle: {@code throttle.toml}. Unknown keys are ignored, as in throttle.
 *
 * @param semaphores sorted by name
 * @param logLevel the value of {@code logging.stderr.level}; null when it is missing
 */
public record ThrottleFile(
        List<Declared> semaphores, @Nullable String logLevel) {

    /** No semaphores. */
    public static final ThrottleFile EMPTY = new ThrottleFile(List.of(), null);

    private static final String SEMAPHORES = "semaphores";

    /** A semaphore of the file. */
    public record Declared(String name, long max, int level) {}

    /** The file is invalid. */
    public static final class InvalidException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final int line;

        private InvalidException(@Nullable TomlPosition where, String message) {
            super(message, null, false, false);
            this.line = where == null ? 1 : where.line();
        }

        /** The error as {@code FILE:LINE: MESSAGE}. */
        public String in(String file) {
            return "%s:%d: %s".formatted(file, line, getMessage());
        }
    }

    public ThrottleFile {
        semaphores = List.copyOf(semaphores);
    }

    /** Reads a file. Throws {@link InvalidException} when it is invalid. */
    public static ThrottleFile read(Path file) throws IOException {
        return parse(Files.readString(file));
    }

    static ThrottleFile parse(String toml) {
        TomlParseResult root = Toml.parse(toml);
        if (root.hasErrors()) {
            TomlParseError first = root.errors().get(0);
            throw new InvalidException(first.position(), String.valueOf(first.getMessage()));
        }
        List<Declared> semaphores = new ArrayList<>();
        Object table = root.get(List.of(SEMAPHORES));
        if (table instanceof TomlTable all) {
            all.keySet().stream().sorted().forEach(name -> semaphores.add(new Entry(all, name).declared()));
        } else if (table != null) {
            throw new Entry(root, SEMAPHORES).wrong(SEMAPHORES, "a table");
        }
        Object level = root.get(List.of("logging")) instanceof TomlTable logging
                        && logging.get(List.of("stderr")) instanceof TomlTable stderr
                ? stderr.get(List.of("level"))
                : null;
        return new ThrottleFile(semaphores, level == null ? null : level.toString());
    }

    /** One key of a table; the key may contain dots. */
    private record Entry(TomlTable table, String key) {

        @Nullable
        Object value() {
            return table.get(List.of(key));
        }

        Declared declared() {
            String path = SEMAPHORES + "." + key;
            if (!(value() instanceof TomlTable settings)) {
                return new Declared(key, max(path), 0);
            }
            if (!settings.contains(List.of("max"))) {
                throw wrong(path, "a maximum, as in { max = 4, level = 0 }");
            }
            long max = new Entry(settings, "max").max(path + ".max");
            return new Declared(key, max, new Entry(settings, "level").level(path + ".level"));
        }

        private long max(String path) {
            if (value() instanceof Long max) {
                return max;
            }
            throw wrong(path, "a whole number, or a table with max and level");
        }

        private int level(String path) {
            Object value = value() == null ? 0L : value();
            if (value instanceof Long level && level == level.intValue()) {
                return level.intValue();
            }
            throw wrong(path, "a whole number of 32 bits");
        }

        InvalidException wrong(String path, String expected) {
            Object found = value() instanceof TomlTable other ? other.keySet() : value();
            return new InvalidException(
                    table.inputPositionOf(List.of(key)), "%s: %s (expected: %s)".formatted(path, found, expected));
        }
    }
}

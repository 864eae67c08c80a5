package io.fairgate.gateway.throttle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
        Key all = new Key(root, List.of("semaphores"));
        List<Declared> semaphores = new ArrayList<>();
        if (all.value() instanceof TomlTable table) {
            table.keySet().stream()
                    .sorted()
                    .forEach(name -> semaphores.add(all.below(name).declared(name)));
        } else if (all.value() != null) {
            throw all.wrong("a table");
        }
        Object level = root.get(List.of("logging", "stderr", "level"));
        return new ThrottleFile(semaphores, level == null ? null : level.toString());
    }

    /** One key of the file, by its path; parts of the path may contain dots. */
    private record Key(TomlTable root, List<String> path) {

        Key below(String name) {
            return new Key(root, Stream.concat(path.stream(), Stream.of(name)).toList());
        }

        @Nullable
        Object value() {
            return root.get(path);
        }

        Declared declared(String name) {
            if (!(value() instanceof TomlTable)) {
                return new Declared(name, max(), 0);
            }
            if (below("max").value() == null) {
                throw wrong("a maximum, as in { max = 4, level = 0 }");
            }
            return new Declared(name, below("max").max(), below("level").level());
        }

        private long max() {
            if (value() instanceof Long max) {
                return max;
            }
            throw wrong("a whole number, or a table with max and level");
        }

        private int level() {
            Object value = value() == null ? 0L : value();
            if (value instanceof Long level && level == level.intValue()) {
                return level.intValue();
            }
            throw wrong("a whole number of 32 bits");
        }

        InvalidException wrong(String expected) {
            Object found = value() instanceof TomlTable table ? table.keySet() : value();
            return new InvalidException(
                    root.inputPositionOf(path),
                    "%s: %s (expected: %s)".formatted(String.join(".", path), found, expected));
        }
    }
}

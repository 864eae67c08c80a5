package io.fairgate.proofs.mutants;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One fault in the pool, and the proofs that detect it.
 *
 * @param broken a sentence that describes the fault
 * @param source the file with the fault
 * @param there the text to replace, which occurs once in the file
 * @param instead its replacement
 * @param proofs scenarios of the model checker, and names of stress tests
 */
record Mutant(String name, String broken, Path source, String there, String instead, List<String> proofs) {

    private static final Path MUTANTS = Path.of("src/mutants");
    private static final Path SOURCES = Path.of("../core/src/main/java/io/fairgate");

    private static final String EXPECTED = """
            a sentence, an empty line, "file: " and "red: " lines, and the texts below "--- there" and "--- instead\"""";
    private static final Pattern FORM = Pattern.compile(
            "(\\V+)\\R\\Rfile: (\\V+)\\R((?:red: \\V+\\R)+)\\R--- there\\R(.+)\\R--- instead\\R(.*)\\R",
            Pattern.DOTALL);

    /** All recorded mutants, sorted by name. */
    static Stream<Mutant> all() {
        try (Stream<Path> files = Files.list(MUTANTS)) {
            return files.sorted().map(Mutant::read).toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Mutant read(Path file) {
        Matcher parts = FORM.matcher(text(file));
        if (!parts.matches()) {
            throw new IllegalArgumentException(file + " (expected: " + EXPECTED + ")");
        }
        List<String> proofs = parts.group(3)
                .lines()
                .map(line -> line.substring("red: ".length()))
                .toList();
        String name = file.getFileName().toString().replace(".txt", "");
        return new Mutant(
                name, parts.group(1), SOURCES.resolve(parts.group(2)), parts.group(4), parts.group(5), proofs);
    }

    /** The source with the fault. */
    String code() {
        String code = text(source);
        int at = code.indexOf(there);
        if (at < 0 || code.indexOf(there, at + 1) >= 0) {
            throw new IllegalStateException("mutant %s must be corrected: its text occurs %s in %s (expected: once)"
                    .formatted(this, at < 0 ? "nowhere" : "more than once", source));
        }
        return code.substring(0, at) + instead + code.substring(at + there.length());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** In a report the name is enough. */
    @Override
    public String toString() {
        return name;
    }
}

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
 * One way to break the pool, and who sees it.
 *
 * @param broken a sentence
 * @param source the file that is broken
 * @param there the text in it, which occurs once
 * @param instead what takes its place
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

    /** All on record, by their names. */
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

    /** The source with the fault in it. */
    String code() {
        String code = text(source);
        int at = code.indexOf(there);
        if (at < 0 || code.indexOf(there, at + 1) >= 0) {
            throw new IllegalStateException("%s has to be mended: what it replaces occurs %s in %s"
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

    /** Its name is enough in a report. */
    @Override
    public String toString() {
        return name;
    }
}

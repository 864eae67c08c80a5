package io.fairgate.proofs.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compiles each mutant and runs its proofs. This takes minutes, so only the profile "proofs" runs it. */
@Tag("long")
class MutantsTurnRedTest {

    private static final Path TARGET = Path.of("target/mutants").toAbsolutePath();

    static Stream<Mutant> mutants() {
        return Mutant.all();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void a_mutant_turns_its_proofs_red(Mutant mutant) throws IOException {
        List<String> red = red(mutant.proofs(), compiled(mutant.name(), mutant.source(), mutant.code()));

        assertThat(red).as(mutant.broken()).containsExactlyInAnyOrderElementsOf(mutant.proofs());
    }

    /** Otherwise a red proof might be caused by the way in which it is run. */
    @Test
    void a_mutant_without_a_fault_turns_no_proof_red() throws IOException {
        Mutant mutant = mutants()
                .filter(candidate -> candidate.proofs().stream().anyMatch(MutantsTurnRedTest::isScenario)
                        && !candidate.proofs().stream().allMatch(MutantsTurnRedTest::isScenario))
                .findFirst()
                .orElseThrow();

        assertThat(red(mutant.proofs(), compiled("none", mutant.source(), Files.readString(mutant.source()))))
                .isEmpty();
    }

    private static List<String> red(List<String> proofs, Fork fork) {
        List<String> scenarios =
                proofs.stream().filter(MutantsTurnRedTest::isScenario).toList();
        List<String> tests = proofs.stream().filter(proof -> !isScenario(proof)).toList();
        return Stream.concat(
                        (scenarios.isEmpty() ? scenarios : fork.redScenarios(scenarios)).stream(),
                        (tests.isEmpty() ? tests : fork.redStressTests(tests)).stream())
                .toList();
    }

    private static boolean isScenario(String proof) {
        return proof.contains(":");
    }

    private static Fork compiled(String name, Path source, String code) throws IOException {
        Fork fork = new Fork(TARGET.resolve(name));
        delete(fork.directory());
        Path classes = Files.createDirectories(fork.directory().resolve(Fork.CLASSES));
        JavaCompiler compiler =
                Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "no compiler (expected: a JDK)");
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<String> options = List.of(
                    "-d",
                    classes.toString(),
                    "-classpath",
                    System.getProperty("java.class.path"),
                    "-nowarn",
                    "-proc:none");
            boolean compiles = compiler.getTask(null, files, null, options, null, List.of(new Code(source, code)))
                    .call();
            assertThat(compiles).as("the mutant compiles").isTrue();
        }
        return fork;
    }

    /** Files of an earlier run may be out of date. */
    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (Stream<Path> below = Files.walk(directory)) {
                for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }

    /** A source file in memory. */
    private static final class Code extends SimpleJavaFileObject {

        private final String code;

        Code(Path file, String code) {
            super(URI.create("string:///" + file.getFileName()), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }
}

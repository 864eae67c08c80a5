package io.fairgate.proofs.mutants;

import io.fairgate.proofs.ModelCheck;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The tests of jcstress. */
final class StressTests {

    private static final String PACKAGE = ModelCheck.class.getPackageName();
    /** Written by jcstress's annotation processor. */
    private static final String LIST = "/META-INF/TestList";

    private static final Pattern NAME = Pattern.compile(Pattern.quote(PACKAGE) + "\\.(\\w+)_jcstress");

    private StressTests() {}

    /** The names of all stress tests. */
    static List<String> all() {
        try (InputStream list = Objects.requireNonNull(StressTests.class.getResourceAsStream(LIST))) {
            String tests = new String(list.readAllBytes(), StandardCharsets.UTF_8);
            return NAME.matcher(tests)
                    .results()
                    .map((MatchResult test) -> test.group(1))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The arguments of a JVM that runs these tests. */
    static List<String> command(List<String> tests, Path report) {
        String these = PACKAGE.replace(".", "\\.") + "\\.(" + String.join("|", tests) + ")";
        return List.of(
                "org.openjdk.jcstress.Main",
                "-t",
                "^" + these + "$",
                "-r",
                report.toString(),
                "-m",
                "quick",
                "-sc",
                "false",
                "-jvmArgs",
                "-Xmx256m",
                "-time",
                "500",
                "-iters",
                "4");
    }
}

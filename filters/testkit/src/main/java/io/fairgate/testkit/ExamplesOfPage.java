package io.fairgate.testkit;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Java examples of a page of the documentation. A test class contains and runs them, between {@code // example} and
 * {@code // end}, in the order of the page.
 */
public final class ExamplesOfPage {

    private static final Pattern SHOWN = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);
    private static final Pattern RUN = Pattern.compile("( *)// example\n(.*?)\n *// end\n", Pattern.DOTALL);

    private ExamplesOfPage() {}

    /**
     * Asserts that the page shows exactly the examples of the test. To be called in a module of {@code filters/}.
     *
     * @param page name of a file in {@code docs/}
     */
    public static void assertRunBy(Class<?> test, String page) throws IOException {
        Path source = Path.of("src", "test", "java").resolve(test.getName().replace('.', '/') + ".java");
        assertThat(shown(Files.readString(Path.of("..", "..", "docs", page))))
                .isNotEmpty()
                .containsExactlyElementsOf(run(Files.readString(source)));
    }

    private static List<String> shown(String page) {
        return SHOWN.matcher(page).results().map(block -> block.group(1)).toList();
    }

    private static List<String> run(String source) {
        List<String> run = new ArrayList<>();
        Matcher example = RUN.matcher(source);
        while (example.find()) {
            String indent = example.group(1);
            run.add(example.group(2)
                    .lines()
                    .map(line -> line.startsWith(indent) ? line.substring(indent.length()) : line)
                    .collect(joining("\n", "", "\n")));
        }
        return run;
    }
}

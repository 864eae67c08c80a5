package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.Mistake;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each file in {@code bad/} has one defect, and says in its first line what is to be told of it. */
class BadPolicyTest {
    private static final String EXPECT = "# expect: ";

    static Stream<String> files() throws IOException, URISyntaxException {
        try (Stream<Path> files = Files.list(directory())) {
            return files.map(file -> String.valueOf(file.getFileName())).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void one_defect_gives_one_mistake_that_says_where_and_what(String file) throws IOException, URISyntaxException {
        String text = Files.readString(directory().resolve(file));

        assertThat(PolicyReaderTest.mistakes(file, text))
                .extracting(Mistake::toString)
                .containsExactly(text.substring(EXPECT.length(), text.indexOf('\n')));
    }

    private static Path directory() throws URISyntaxException {
        return Path.of(
                Objects.requireNonNull(BadPolicyTest.class.getResource("/bad")).toURI());
    }
}

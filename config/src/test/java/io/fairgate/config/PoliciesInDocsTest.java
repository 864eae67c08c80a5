package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The whole policies on pages that promise that the build checks them. */
class PoliciesInDocsTest {

    private static final Pattern BLOCK = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL);

    @ParameterizedTest
    @CsvSource({"quick-start.md, 1", "from-rate-limiter.md, 2"})
    void they_are_accepted_without_a_warning(String page, int policies) throws IOException {
        int found = 0;
        var block = BLOCK.matcher(Files.readString(Path.of("../docs").resolve(page)));
        while (block.find()) {
            found++;
            assertThat(PolicyReader.read(page, block.group(1)).warnings()).isEmpty();
        }
        assertThat(found).isEqualTo(policies);
    }
}

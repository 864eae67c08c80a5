package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnreadableFileTest {
    private static final String EXPECTED = " (expected: a policy file, which is YAML in UTF-8 of at most 8 MB)";

    @TempDir
    Path directory = Path.of("");

    @Test
    void a_missing_file_is_a_mistake() {
        assertUnreadable(directory.resolve("none.yml"), 1, "no such file");
    }

    @Test
    void a_directory_is_a_mistake() {
        assertUnreadable(directory, 1, "a directory");
    }

    @Test
    void bytes_that_are_not_utf_8_are_a_mistake_at_their_line() throws IOException {
        byte[] bytes = "# one\n# two\n# \u00e9\n".getBytes(StandardCharsets.ISO_8859_1);

        assertUnreadable(file(bytes), 3, "bytes that are not UTF-8");
    }

    @Test
    void a_character_that_is_cut_off_at_the_end_is_a_mistake() throws IOException {
        assertUnreadable(file(new byte[] {'#', '\n', (byte) 0xe2, (byte) 0x82}), 2, "bytes that are not UTF-8");
    }

    @Test
    void a_file_over_the_bound_is_a_mistake() throws IOException {
        byte[] bytes = new byte[PolicyReader.MAX_BYTES + 1];
        Arrays.fill(bytes, (byte) '#');

        assertUnreadable(file(bytes), 1, "more than 8 MB");
        assertThatThrownBy(() -> PolicyReader.read("fairgate.yml", new String(bytes, StandardCharsets.US_ASCII)))
                .isInstanceOf(InvalidPolicyException.class);
    }

    @Test
    void a_file_of_exactly_the_bound_is_read() throws IOException {
        byte[] bytes = new byte[PolicyReader.MAX_BYTES];
        Arrays.fill(bytes, (byte) '\n');

        assertThatThrownBy(() -> PolicyReader.read(file(bytes)))
                .hasMessageEndingWith(":1: file: nothing (expected: a policy with at least tenants)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "# only a comment\n", "---\n", "---\n...\n", "\uFEFF"})
    void a_file_that_says_nothing_is_a_mistake(String text) {
        assertThatThrownBy(() -> PolicyReader.read("fairgate.yml", text))
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessage("fairgate.yml:1: file: nothing (expected: a policy with at least tenants)");
    }

    @Test
    void a_byte_order_mark_and_the_line_ends_of_windows_change_nothing() throws IOException {
        String reference = Files.readString(Path.of("fairgate.yml"));

        assertThat(PolicyReader.read("fairgate.yml", "\uFEFF" + reference.replace("\n", "\r\n")))
                .isEqualTo(PolicyReader.read("fairgate.yml", reference));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: b\n\"\\x", "a: b\n\"\\U99999999\"", "a: b\n\"\\uD800"})
    void an_escape_that_means_nothing_is_a_mistake_at_its_line(String text) {
        assertThat(PolicyReaderTest.mistakes(text)).extracting(Mistake::line).containsExactly(2);
    }

    @Test
    void a_reference_that_is_cut_off_anywhere_is_read_or_refused() throws IOException {
        String reference = Files.readString(Path.of("fairgate.yml"));

        for (int end = 0; end < reference.length(); end += 7) {
            assertReadOrRefused(reference.substring(0, end));
        }
    }

    @Test
    void a_reference_with_a_few_characters_changed_is_read_or_refused() throws IOException {
        String reference = Files.readString(Path.of("fairgate.yml")).replaceAll("(?m)^ *#.*\n", "");
        String signs = "{}[]:,-?&*!|>%@`'\"#\n\t \\~<=0a\u0000\ud800\u2028";
        Random random = new Random(7);

        for (int i = 0; i < 3000; i++) {
            StringBuilder changed = new StringBuilder(reference);
            for (int change = random.nextInt(4); change >= 0; change--) {
                int at = random.nextInt(changed.length());
                changed.setCharAt(at, signs.charAt(random.nextInt(signs.length())));
            }
            assertReadOrRefused(changed.toString());
        }
    }

    @Test
    void random_bytes_are_refused() throws IOException {
        String signs = "{}[]:,-?&*!|>%@'\"#\n a1<=";
        Random random = new Random(11);

        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[1 + random.nextInt(400)];
            random.nextBytes(bytes);
            assertThat(catchThrowable(() -> PolicyReader.read(file(bytes)))).isInstanceOf(InvalidPolicyException.class);
            // Characters that YAML gives a meaning get further than bytes that are not even text.
            StringBuilder text = new StringBuilder();
            for (byte b : bytes) {
                text.append(signs.charAt(Math.floorMod(b, signs.length())));
            }
            assertReadOrRefused(text.toString());
        }
    }

    private static void assertReadOrRefused(String text) {
        Throwable thrown = catchThrowable(() -> PolicyReader.read("fairgate.yml", text));
        if (thrown != null) {
            assertThat(thrown).as(text).isInstanceOf(InvalidPolicyException.class);
        }
    }

    private static void assertUnreadable(Path file, int line, String found) {
        assertThatThrownBy(() -> PolicyReader.read(file))
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessage("%s:%d: file: %s%s", file, line, found, EXPECTED);
    }

    private Path file(byte[] bytes) throws IOException {
        return Files.write(directory.resolve("fairgate.yml"), bytes);
    }
}

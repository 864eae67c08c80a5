package io.fairgate.spring.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Which paths servers read in different ways: the same as by this expression, which is short but slow. */
class AmbiguousPathsTest {

    private static final Pattern AMBIGUOUS =
            Pattern.compile("//|\\\\|%2f|%5c|(^|/)(\\.|%2e){1,2}(/|;|%3b|$)", Pattern.CASE_INSENSITIVE);

    private static final List<String> PARTS =
            List.of("/", ".", "%2e", "%2E", "%2F", "%2f", "%5C", "%3b", "%3B", ";", "\\", "a", "%", "2");

    private static final int LONGEST = 5;

    private int ambiguous;
    private int unambiguous;

    @Test
    void all_short_paths_are_read_as_by_the_expression() {
        checkAllThatBeginWith("", LONGEST);
        assertThat(ambiguous).isGreaterThan(1000);
        assertThat(unambiguous).isGreaterThan(1000);
    }

    private void checkAllThatBeginWith(String path, int parts) {
        boolean expected = AMBIGUOUS.matcher(path).find();
        if (AmbiguousPaths.isAmbiguous(path) != expected) {
            assertThat(AmbiguousPaths.isAmbiguous(path)).as(path).isEqualTo(expected);
        }
        ambiguous += expected ? 1 : 0;
        unambiguous += expected ? 0 : 1;
        if (parts > 0) {
            PARTS.forEach(part -> checkAllThatBeginWith(path + part, parts - 1));
        }
    }
}

package io.fairgate.benchmarks.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonRunTest {

    private static void publish(Path folder, boolean isQuick) throws IOException {
        Schedule schedule = new Schedule(1, 1, Duration.ofSeconds(1), 1, 1, isQuick);
        new ComparisonRun(folder.resolve("fairgate.jar"), folder.resolve("run"), schedule)
                .publish(folder.resolve("published"), "page", "text", "picture");
    }

    @Test
    void a_run_without_the_jar_says_how_to_build_it(@TempDir Path folder) {
        String jar = folder.resolve("fairgate.jar").toString();

        assertThatThrownBy(() -> ComparisonRun.of(new String[] {jar, folder.toString(), folder.toString()}))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContainingAll(jar, "mvn -q -DskipTests package");
    }

    @Test
    void a_run_writes_the_page_and_the_picture_to_the_published_reports(@TempDir Path folder) throws IOException {
        publish(folder, false);

        assertThat(folder.resolve("published/page.md")).hasContent("text");
        assertThat(folder.resolve("published/page.svg")).hasContent("picture");
    }

    @Test
    void a_quick_run_leaves_the_published_reports_alone(@TempDir Path folder) throws IOException {
        publish(folder, true);

        assertThat(folder.resolve("published")).doesNotExist();
        assertThat(folder.resolve("run/page.md")).hasContent("text");
    }

    /** Measures with these numbers of processors of other programs, and returns the one that counts. */
    private static double measured(Double... others) throws Exception {
        Iterator<Double> attempts = List.of(others).iterator();
        ComparisonRun.Sample sample = ComparisonRun.leastDisturbed(() -> attempts.next()::doubleValue);
        assertThat(attempts).isExhausted();
        return sample.others();
    }

    @Test
    void an_undisturbed_measurement_is_not_repeated() throws Exception {
        assertThat(measured(0.3)).isEqualTo(0.3);
    }

    @Test
    void a_disturbed_measurement_is_repeated_and_the_least_disturbed_one_counts() throws Exception {
        assertThat(measured(0.9, 0.1)).isEqualTo(0.1);
        assertThat(measured(0.9, 0.5, 0.7)).isEqualTo(0.5);
    }
}

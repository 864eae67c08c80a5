package io.fairgate.benchmarks.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairgate.benchmarks.FewAndMany;
import io.fairgate.benchmarks.http.HttpLoad.Result;
import io.fairgate.benchmarks.http.MembersCost.Task;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MembersCostReportTest {

    /** Tests run in the module's folder. */
    private static final Path REPORT = Path.of("..", "..", "docs", "members-performance.md");

    private static String report() {
        Map<Task, List<FewAndMany>> http = new LinkedHashMap<>();
        Arrays.stream(Task.values()).forEach(task -> http.put(task, List.of(new FewAndMany(1, 1))));
        return new MembersCostReport("Measured on this", 5, 15, "| core |\n", http).text();
    }

    @Test
    void the_page_in_the_docs_has_the_form_that_the_code_writes() throws IOException {
        String page = Files.readString(REPORT);

        assertThat(withoutRows(page)).isEqualTo(withoutRows(report()));
        assertThat(Task.values()).allSatisfy(task -> assertThat(page).contains("| " + task.description + " | "));
    }

    @Test
    void a_slower_machine_in_one_turn_does_not_raise_the_cost() {
        Result few = new Result(1000, Duration.ofMillis(300), Duration.ofMillis(100));
        Result many = new Result(500, Duration.ofMillis(300), Duration.ofMillis(100));

        assertThat(MembersCost.pair(few, many).few())
                .isCloseTo(MembersCost.pair(few, many).many(), within(0.001));
    }

    @Test
    void a_gateway_that_needs_more_time_for_the_same_load_has_a_higher_cost() {
        Result few = new Result(1000, Duration.ofMillis(300), Duration.ofMillis(100));
        Result many = new Result(1000, Duration.ofMillis(600), Duration.ofMillis(100));

        assertThat(MembersCost.pair(few, many)).isEqualTo(new FewAndMany(300_000, 600_000));
    }

    /** The page without the rows of both tables and the parts that depend on the machine. */
    private static String withoutRows(String page) {
        return page.replaceAll("Measured on .*", "machine")
                .replaceAll("\\d+ rounds", "rounds")
                .replaceAll("(?m)^\\| (?!operation).*\n", "");
    }
}

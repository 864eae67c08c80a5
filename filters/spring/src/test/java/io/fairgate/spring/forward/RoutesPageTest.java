package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.routes.BuiltIns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The tables of the page {@code docs/routes.md} against what the other tests run. The gateway's tests try its examples. */
class RoutesPageTest {

    private static final Path PAGE = Path.of("../../docs/routes.md");

    /** The last column of the rows below a heading, by the name of the filter or the predicate in the first column. */
    private static Map<String, String> rows(String heading) throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(heading);
        assertThat(from).as(heading).isPositive();
        int next = page.indexOf("\n#", from + 1);
        Map<String, String> rows = new TreeMap<>();
        Pattern.compile("(?m)^\\| `(?:\\{ name: )?(\\w+).*\\| ([^|]+) \\|$")
                .matcher(page.substring(from, next < 0 ? page.length() : next))
                .results()
                .forEach(row -> assertThat(rows.put(row.group(1), row.group(2)))
                        .as(row.group(1))
                        .isNull());
        return rows;
    }

    private static String name(String definition) {
        return definition.split("[=;]", 2)[0];
    }

    private static String yes(boolean isKnown) {
        return isKnown ? "yes" : "no";
    }

    @Test
    void no_filter_that_is_not_run_is_known() {
        assertThat(BuiltInFilter.NOT_RUN.keySet())
                .allSatisfy(factory -> assertThat(RouteFilters.FACTORIES).noneMatch(known -> known.endsWith(factory)));
    }

    @Test
    void each_filter_of_the_jar_is_there_with_the_way_of_its_requests() throws IOException {
        Map<String, String> expected = new TreeMap<>(Map.of("FairShare", "yes", "Cost", "yes"));
        BuiltInFilter.all().stream()
                .filter(filter -> !BuiltIns.LIBRARIES.containsKey(name(filter.definition())))
                .forEach(filter -> expected.put(name(filter.definition()), yes(filter.isKnown())));

        assertThat(rows("## Filters\n")).isEqualTo(expected);
    }

    @Test
    void each_other_filter_of_spring_cloud_gateway_is_there_with_its_library() throws IOException {
        Map<String, String> expected = new TreeMap<>();
        BuiltIns.LIBRARIES.forEach((name, library) -> expected.put(name, "`" + library + "`"));
        assertThat(rows("### Filters that need a library\n")).isEqualTo(expected);

        Map<String, String> rest = new TreeMap<>();
        BuiltInFilter.all().forEach(filter -> rest.put(name(filter.definition()), yes(filter.isKnown())));
        BuiltInFilter.NOT_RUN.keySet().forEach(name -> rest.put(name.replace("GatewayFilterFactory", ""), "no"));
        rest.keySet().removeAll(BuiltIns.FILTERS.keySet());
        assertThat(rest.keySet()).isEqualTo(expected.keySet());
        assertThat(rest.values()).containsOnly("no");
    }

    @Test
    void each_predicate_is_there_with_where_its_route_is_found() throws IOException {
        Map<String, String> expected = new TreeMap<>(Map.of("Tenant", "no"));
        BuiltInPredicate.all()
                .forEach(predicate -> expected.put(name(predicate.definition()), yes(predicate.isKnown())));

        assertThat(rows("## Predicates\n")).isEqualTo(expected);
    }
}

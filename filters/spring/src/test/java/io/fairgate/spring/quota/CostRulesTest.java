package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;

class CostRulesTest {

    private static long units(CostRules rules, String method, String path) {
        // As a URI: a text would be a template and be encoded.
        URI asWritten = URI.create("http://gateway" + path);
        return rules.units(MockServerHttpRequest.method(HttpMethod.valueOf(method), asWritten)
                .build());
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /reports/7, 10",
        "get, /reports/7, 10",
        "POST, /reports/7, 4",
        "GET, /search, 3",
        "DELETE, /search, 3",
        "GET, /, 2"
    })
    void the_first_rule_that_matches_method_and_path_counts(String method, String path, long units) {
        CostRules rules = new CostRules("GET /reports/** = 10, POST /** = 4, * /search=3", 2);
        assertThat(units(rules, method, path)).isEqualTo(units);
    }

    @Test
    void head_counts_as_get_unless_an_earlier_rule_names_it() {
        assertThat(units(new CostRules("POST /x = 2, GET /x = 7", 1), "HEAD", "/x"))
                .isEqualTo(7);
        assertThat(units(new CostRules("HEAD /x = 2, GET /x = 7", 1), "HEAD", "/x"))
                .isEqualTo(2);
        assertThat(units(new CostRules("HEAD /x = 2, GET /x = 7", 1), "GET", "/x"))
                .isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/reports/7",
                // Slashes.
                "//reports/7",
                "/reports//7",
                "/reports/7/",
                "/search/",
                "/search%2F",
                "/reports%2F7",
                "/reports%2f7",
                "/reports%5C7",
                "/reports%5c7",
                "/%2Freports%2F7",
                // Dots.
                "/./reports/7",
                "/reports/./7",
                "/x/../reports/7",
                "/../reports/7",
                "/reports/7/x/..",
                "/reports/7/.",
                "/x/%2e%2e/reports/7",
                "/x/.%2E/reports/7",
                "/x/..%2Freports/7",
                "/x%2f..%2freports%2f7",
                "/x/..%5Creports/7",
                // Dots and slashes, in either order.
                "/x//../reports/7",
                "/x//../../reports/7",
                "/x//..//reports/7",
                "/x/..//reports//../7",
                // Only one of the two: this path is below the expensive one if %2F is no slash.
                "/reports/..%2F..%2Fx",
                "//reports/..%2Fx",
                // Parameters.
                "/reports;a=b/7",
                "/reports;a=b/7;c",
                "/reports/;x/7",
                "/x/..;/reports/7",
                "/x/..%3B/reports/7",
                "/reports%3Bv=1/7",
                // Codes of ordinary letters, and letter case.
                "/%72eports/7",
                "/reports%2F%37",
                "/REPORTS/7",
                "/Reports;a/../reports/7"
            })
    void an_expensive_path_is_expensive_in_every_spelling(String path) {
        CostRules rules = new CostRules("GET /health/** = 0, GET /search = 9, GET /reports/** = 9", 1);
        assertThat(units(rules, "GET", path)).isEqualTo(9);
        assertThat(units(rules, "HEAD", path)).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // The last rule applies if the upstream takes parameters as a part of the name, or if case matters.
                "/health;x",
                "/HEALTH",
                "/health/",
                "/x/../health",
                "/%68ealth%2F",
            })
    void a_path_that_is_cheap_in_only_one_reading_is_expensive(String path) {
        assertThat(units(new CostRules("GET /health = 0, * /** = 9", 1), "GET", path))
                .isEqualTo(9);
    }

    @ParameterizedTest
    @CsvSource({
        "/projects/group%2Fname, 2",
        "/projects/a;v=1/b, 2",
        "/projects//7, 2",
        "/projects/a%20b, 2",
        "/projects/%C3%A4/.well-known, 2",
        "/projects/.../x, 2",
        "/elsewhere%2Fx;y//z, 1"
    })
    void an_unusual_spelling_does_not_match_more_expensive_rules(String path, long units) {
        CostRules rules = new CostRules("* /reports/** = 9, * /projects/** = 2", 1);
        assertThat(units(rules, "GET", path)).isEqualTo(units);
    }

    @Test
    void a_doubly_encoded_path_is_decoded_once() {
        assertThat(units(new CostRules("* /reports/** = 9", 1), "GET", "/reports%252F7"))
                .isEqualTo(1);
    }

    @Test
    void a_path_with_too_many_readings_costs_the_most_of_its_method() {
        CostRules rules = new CostRules("GET /reports/** = 9, * /search = 3, POST /** = 20", 1);
        String path = "/a;b//..;c/%2e%2E%2f/.%3Bd//e/%5C..//;/".repeat(90);
        assertThat(PathReadings.of(path)).isEmpty();
        assertThat(units(rules, "HEAD", path)).isEqualTo(9);
        assertThat(units(rules, "PUT", path)).isEqualTo(3);
        assertThat(units(new CostRules("GET /free = 0", 1), "GET", path)).isEqualTo(1);
    }

    @Test
    void the_longest_possible_path_has_one_or_two_readings() {
        assertThat(PathReadings.of("/a%20".repeat(800))).hasSize(1);
        assertThat(PathReadings.of("/a".repeat(2000) + "//b")).hasSize(2);
        assertThat(PathReadings.of("/a/b-c.d/e")).containsExactly("/a/b-c.d/e");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET reports=1",
                "get /x = 1",
                "GET /x",
                "GET /x = -1",
                "GET /x = 1234567890123",
                "",
                "GET /x = 1,"
            })
    void an_invalid_rule_is_refused(String text) {
        assertThatThrownBy(() -> new CostRules(text, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Cost: rules: ");
    }
}

package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/**
 * Alerts, recording rules and the dashboard ask only for meters that exist, with tags that they have. {@code PrometheusTest} runs them in
 * a Prometheus.
 */
class MonitoringFilesTest {

    private static final Path FOLDER = Path.of("../../config/monitoring");
    private static final Path RUNBOOKS = Path.of("../../docs/runbooks.md");
    private static final Path ALERT_TESTS = Path.of("../../gateway/src/test/resources/monitoring/alerts.test.yml");

    /** The labels of Prometheus itself, what it makes of the tag {@code instance}, and a tag of meters of the JVM. */
    private static final Set<String> OTHER_LABELS = Set.of("job", "instance", "exported_instance", "le", "area");

    private static final Pattern NAME =
            Pattern.compile("(?<![\\w:$\"])[a-z_]+(:fairgate_[a-z0-9_]+:[a-z0-9_]+|_[a-z0-9_]+)");
    private static final Pattern MATCHERS = Pattern.compile("([a-z_:0-9]+)\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)(?:=~|!~|!=|=)\"");
    private static final Pattern GROUPING = Pattern.compile("\\b(?:by|on)\\s*\\(([^)]*)\\)");

    /** The keys of queries in the dashboard: of panels and annotations, and of variables. */
    private static final Set<String> QUERIES = Set.of("expr", "query", "definition");

    private static final Map<String, String> recorded = new HashMap<>();
    private static final Map<String, String> alerts = new HashMap<>();
    private static final List<String> queries = new ArrayList<>();

    @BeforeAll
    static void read() throws IOException {
        for (Map<String, Object> rule : rules("recording.yml")) {
            recorded.put((String) rule.get("record"), (String) rule.get("expr"));
        }
        for (Map<String, Object> rule : rules("alerts.yml")) {
            alerts.put((String) rule.get("alert"), (String) rule.get("expr"));
        }
        queries.addAll(recorded.values());
        queries.addAll(alerts.values());
        expressions(new Yaml().load(Files.readString(FOLDER.resolve("dashboard.json"))), queries);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> rules(String file) throws IOException {
        Map<String, List<Map<String, List<Map<String, Object>>>>> all =
                new Yaml().load(Files.readString(FOLDER.resolve(file)));
        return all.get("groups").stream()
                .flatMap(group -> group.get("rules").stream())
                .toList();
    }

    private static void expressions(Object part, List<String> found) {
        if (part instanceof Map<?, ?> mapping) {
            mapping.forEach((key, value) -> {
                if (value instanceof String query && QUERIES.contains(key)) {
                    found.add(query);
                } else {
                    expressions(value, found);
                }
            });
        } else if (part instanceof List<?> list) {
            list.forEach(each -> expressions(each, found));
        }
    }

    /** The tags of each meter, by the names that Prometheus gives to its series. */
    private static Map<String, Set<String>> series() {
        Map<String, Set<String>> series = new HashMap<>();
        for (Meter meter : Meter.values()) {
            String name = MeterTest.prometheusName(meter);
            for (String suffix :
                    meter.type() == Meter.Type.TIMER ? List.of("_bucket", "_count", "_sum", "_max") : List.of("")) {
                series.put(name + suffix, new HashSet<>(meter.tags()));
            }
        }
        return series;
    }

    @Test
    void every_query_asks_for_meters_that_exist() {
        Set<String> names = new TreeSet<>();
        for (String query : queries) {
            NAME.matcher(query)
                    .results()
                    .map(MatchResult::group)
                    .filter(name -> name.contains("fairgate_"))
                    .forEach(names::add);
        }
        Set<String> known = new HashSet<>(series().keySet());
        known.addAll(recorded.keySet());
        assertThat(queries).hasSizeGreaterThan(50);
        assertThat(names).hasSizeGreaterThan(30).isSubsetOf(known);
    }

    @Test
    void every_query_asks_for_tags_that_the_meter_has() {
        Map<String, Set<String>> series = series();
        Set<String> all = series.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
        all.addAll(OTHER_LABELS);
        for (String query : queries) {
            for (MatchResult of : MATCHERS.matcher(query).results().toList()) {
                Set<String> tags = new HashSet<>(series.getOrDefault(of.group(1), all));
                tags.addAll(OTHER_LABELS);
                assertThat(LABEL.matcher(of.group(2)).results().map(label -> label.group(1)))
                        .as(query)
                        .isSubsetOf(tags);
            }
            for (MatchResult grouping : GROUPING.matcher(query).results().toList()) {
                assertThat(grouping.group(1).split(", ")).as(query).isSubsetOf(all);
            }
        }
    }

    @Test
    void every_recorded_series_is_used() throws IOException {
        String all = String.join("\n", queries) + Files.readString(RUNBOOKS);
        assertThat(recorded.keySet()).allMatch(all::contains);
    }

    @Test
    void every_alert_has_a_runbook_and_a_test() throws IOException {
        List<String> sections = Files.readAllLines(RUNBOOKS).stream()
                .filter(line -> line.startsWith("## "))
                .map(line -> line.substring(3))
                .toList();
        assertThat(sections).containsExactlyInAnyOrderElementsOf(alerts.keySet());
        String rules = Files.readString(FOLDER.resolve("alerts.yml"));
        String tests = Files.readString(ALERT_TESTS);
        assertThat(alerts.keySet()).allSatisfy(alert -> {
            assertThat(rules).contains("runbook: docs/runbooks.md#" + alert.toLowerCase(Locale.ROOT) + "\n");
            assertThat(tests).contains("alertname: " + alert + "\n");
        });
    }
}

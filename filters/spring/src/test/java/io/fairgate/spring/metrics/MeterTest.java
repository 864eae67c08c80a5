package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The list of meters, and {@code docs/metrics.md}, which is written from it with {@code -Dfairgate.docs=write}. */
class MeterTest {

    private static final Path PAGE = Path.of("../../docs/metrics.md");

    static String prometheusName(Meter meter) {
        String name = meter.id().replace('.', '_');
        return switch (meter.type()) {
            case GAUGE -> name;
            case COUNTER -> name + "_total";
            case TIMER -> name + "_seconds";
        };
    }

    @ParameterizedTest
    @EnumSource(Meter.class)
    void names_begin_with_fairgate_and_have_the_usual_unit_in_prometheus(Meter meter) {
        assertThat(meter.id()).matches("fairgate(\\.[a-z]+)+");
        assertThat(prometheusName(meter)).matches("fairgate(_[a-z]+)+");
        switch (meter.type()) {
            case COUNTER -> assertThat(prometheusName(meter)).endsWith("_total");
            case TIMER -> assertThat(prometheusName(meter)).endsWith("_seconds");
            case GAUGE -> assertThat(prometheusName(meter)).doesNotEndWith("_total");
        }
        assertThat(meter.description()).endsWith(".");
        assertThat(meter.unit()).isNotBlank();
    }

    @Test
    void no_two_meters_have_the_same_name() {
        assertThat(Arrays.stream(Meter.values()).map(MeterTest::prometheusName)).doesNotHaveDuplicates();
    }

    @Test
    void the_page_of_metrics_agrees_with_the_list() throws IOException {
        if ("write".equals(System.getProperty("fairgate.docs"))) {
            Files.createDirectories(PAGE.getParent());
            Files.writeString(PAGE, page());
        }
        assertThat(PAGE).as("written with -Dfairgate.docs=write").hasContent(page());
    }

    @Test
    void the_pages_for_users_name_no_other_meter() throws IOException {
        Pattern name = Pattern.compile("(?<!:)\\bfairgate(_[a-z]+)+\\b"); // Not those in names of recording rules.
        Set<String> named = new TreeSet<>();
        for (Path page : pages()) {
            name.matcher(Files.readString(page))
                    .results()
                    .map(MatchResult::group)
                    .forEach(named::add);
        }
        Set<String> shown = Arrays.stream(Meter.values())
                .map(MeterTest::prometheusName)
                .flatMap(meter ->
                        Stream.of("", "_bucket", "_count", "_sum", "_max").map(meter::concat))
                .collect(Collectors.toSet());
        assertThat(named).hasSizeGreaterThan(10).isSubsetOf(shown);
    }

    private static List<Path> pages() throws IOException {
        Path root = Path.of("../..");
        try (Stream<Path> docs = Files.walk(root.resolve("docs"))) {
            Stream<Path> pages = docs.filter(file -> file.toString().endsWith(".md"));
            return Stream.concat(Stream.of(root.resolve("README.md"), root.resolve("config/fairgate.yml")), pages)
                    .toList();
        }
    }

    private static String page() {
        return """
                # Metrics

                <!-- Generated from io.fairgate.spring.metrics.Meter: mvn -pl filters/spring -am test -Dfairgate.docs=write -->

                The meters of Fairgate in `/actuator/prometheus` on the management port.

                The tag `tenant` is bounded. It is the id for the most active members of the policy (`fairgate.metrics.tenants`,
                100) and for the members that the policy names (`metrics.tenants`); all others together are `_other`. Activity is
                the permit-time used, of which that of five minutes ago counts half. A tenant that is no longer among the most
                active loses its gauges; its counters stand still, and go on from there when it is among them again. After an
                hour, or earlier when the policy has stopped naming tenants, they may make room for those of another tenant.
                What the tenant does meanwhile is counted as `_other`. So every event is counted in exactly one series, and no
                counter ever decreases: rates of a tenant, of `_other` and of sums over all tenants are right at any time. Where
                there is room for all members, all have their series from the start.

                Quotas that the tenants of a group share have the tenant `_group`, and their names begin with the name of the
                group; those of the groups of shown tenants are shown. The quotas of `_other` are those that unknown ids share.
                The weight of `_other` is the sum over its tenants that hold permits or wait. The tag `pool` is `none` where no
                pool was involved.

                A histogram comes as `…_bucket` (with the tag `le`), `…_count`, `…_sum`, and `…_max` as a gauge.

                | Name | Type | Unit | Tags | Meaning |
                |---|---|---|---|---|
                %s
                """.formatted(Arrays.stream(Meter.values()).map(MeterTest::row).collect(Collectors.joining("\n")));
    }

    private static String row(Meter meter) {
        String type = switch (meter.type()) {
            case GAUGE -> "gauge";
            case COUNTER -> "counter";
            case TIMER -> "histogram";
        };
        String tags = meter.tags().stream().map(tag -> "`" + tag + "`").collect(Collectors.joining(", "));
        return "| `%s` | %s | %s | %s | %s |"
                .formatted(prometheusName(meter), type, meter.unit(), tags, meter.description());
    }
}

package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The page {@code docs/filters.md}, which is written from the tables of the tests with {@code -Dfairgate.docs=write}. */
class FiltersPageTest {

    private static final Path PAGE = Path.of("../../docs/filters.md");

    /** Kinds of filters and predicates by name, in alphabetical order. */
    private static Map<String, String> filters() {
        Map<String, String> rows = new TreeMap<>();
        BuiltInFilter.all().forEach(filter -> rows.put(name(filter.definition()), filter.isKnown() ? "yes" : "no"));
        BuiltInFilter.NOT_RUN.forEach(
                (factory, why) -> rows.put(factory.replace("GatewayFilterFactory", ""), "no; not tested: it " + why));
        return rows;
    }

    private static Map<String, String> predicates() {
        Map<String, String> rows = new TreeMap<>();
        BuiltInPredicate.all()
                .forEach(predicate -> rows.put(name(predicate.definition()), predicate.isKnown() ? "yes" : "no"));
        return rows;
    }

    private static String name(String definition) {
        return definition.split("[=;]", 2)[0];
    }

    private static String rows(Map<String, String> kinds) {
        return kinds.entrySet().stream()
                .map(kind -> "| `%s` | %s |".formatted(kind.getKey(), kind.getValue()))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void no_filter_that_is_not_run_is_known() {
        assertThat(BuiltInFilter.NOT_RUN.keySet())
                .allSatisfy(factory -> assertThat(RouteFilters.FACTORIES).noneMatch(known -> known.endsWith(factory)));
    }

    @Test
    void the_page_of_filters_agrees_with_the_tables_of_the_tests() throws IOException {
        if ("write".equals(System.getProperty("fairgate.docs"))) {
            Files.writeString(PAGE, page());
        }
        assertThat(PAGE).as("written with -Dfairgate.docs=write").hasContent(page());
    }

    private static String page() {
        return """
                # Filters and predicates of routes

                <!-- Generated from BuiltInFilter and BuiltInPredicate of the tests: mvn -pl filters/spring -am test -Dfairgate.docs=write -->

                Routes may use all filters and predicates of Spring Cloud Gateway. Fairgate forwards the requests of a route
                [directly](request-path.md#forward-directly-or-through-the-chain) if it knows all filters of the route, which takes less
                time and memory, and otherwise through Spring Cloud Gateway's chain of filters. The result is the same: the tests send the
                same requests in both ways, and compare what the upstream and the client get. The one difference is the query, which is
                sent directly as it was received; the chain sorts its parameters by name and drops empty ones.

                ## Filters

                A route is forwarded directly if all its filters, with `default-filters`, have a *yes*. So have `FairShare` and `Cost`. All
                other filters, such as those of an application, have a *no*. A line of the log at the start names the routes that pass the
                chain, and why.

                | filter | directly |
                |---|---|
                %s

                These requests pass the chain on every route: handshakes of WebSockets, gRPC, and targets with `//` or with characters that are not ASCII.
                So do all requests of a route to another URI than `http`, `https`, `ws` or `wss`, such as `lb:`; and all requests of an application with
                a `GlobalFilter` or `HttpHeadersFilter` of its own, and of every gateway with `fairgate.forwarding: filter-chain`.

                ## Predicates

                A route is found before Spring's dispatching, which also takes less, if it and all routes before it have only predicates
                with a *yes*. `Tenant`, and predicates of an application, have a *no*: put such routes last if the order does not matter.
                In an application that uses the starter, nothing else may come before the routes: no controllers, functions or actuator
                on the same port (unless `spring.cloud.gateway.server.webflux.handler-mapping.order` is below theirs), no
                `@ControllerAdvice`, no CORS settings, and no versions of an API.

                | predicate | found early |
                |---|---|
                %s
                """.formatted(rows(filters()), rows(predicates()));
    }
}

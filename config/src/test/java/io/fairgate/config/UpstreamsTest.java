package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import io.fairgate.upstream.Balance;
import io.fairgate.upstream.HealthCheck;
import io.fairgate.upstream.HealthRules;
import io.fairgate.upstream.Instance;
import io.fairgate.upstream.Upstream;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is read of {@code upstreams}, and of the destinations of routes. */
class UpstreamsTest {

    private static final String ROUTE =
            "  - { id: %s, %s, predicates: [ Path=/%1$s/** ], filters: [ FairShare=%s ] }\n";

    private static PolicyFile policy(String text) {
        return PolicyReader.read("p.yml", """
                tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ] }
                """ + text);
    }

    private static String routes(String... idsAndDestinationsAndPools) {
        StringBuilder routes = new StringBuilder("routes:\n");
        for (int i = 0; i < idsAndDestinationsAndPools.length; i += 3) {
            routes.append(ROUTE.formatted(
                    idsAndDestinationsAndPools[i],
                    idsAndDestinationsAndPools[i + 1],
                    idsAndDestinationsAndPools[i + 2]));
        }
        return routes.toString();
    }

    private static Instance instance(String uri, int weight) {
        return new Instance(URI.create(uri), weight);
    }

    @Test
    void an_upstream_has_its_settings_or_the_usual_ones() {
        PolicyFile file = policy("""
                pools: { orders: { permits: 4 } }
                upstreams:
                  all:
                    uris: [ "HTTP://Orders.test:9000/", { uri: "http://[::1]:1", weight: 7 } ]
                    balance: round-robin
                    retries: 0
                    health: { failures: 2, aside: 5m }
                    check: { path: "/up?deep", every: 1s }
                  usual: { uris: [ "https://orders.test" ] }
                """ + routes("a", "upstream: all", "orders", "b", "upstream: usual", "orders"));

        assertThat(file.policy().upstreams())
                .containsExactly(
                        Map.entry(
                                "all",
                                new Upstream(
                                        List.of(instance("http://Orders.test:9000", 1), instance("http://[::1]:1", 7)),
                                        Balance.ROUND_ROBIN,
                                        new HealthRules(2, Duration.ofMinutes(5), Duration.ofMinutes(5)),
                                        new HealthCheck("/up?deep", Duration.ofSeconds(1), Duration.ofSeconds(1)),
                                        0)),
                        Map.entry("usual", Upstream.of(List.of(instance("https://orders.test", 1)))));
        assertThat(file.warnings()).isEmpty();
    }

    @Test
    void the_routes_have_the_uris_of_their_upstreams() {
        PolicyFile file = policy("""
                pools: { orders: { permits: 4 } }
                upstreams: { all: { uris: [ "http://10.0.0.1" ] } }
                """
                + routes(
                        "a",
                        "upstream: all",
                        "orders",
                        "own",
                        "uris: [ \"http://10.0.0.2\", { uri: \"http://10.0.0.3\", weight: 2 } ]",
                        "orders",
                        "c",
                        "uri: \"http://10.0.0.4\"",
                        "orders"));

        assertThat(file.routes())
                .extracting(RouteDeclaration::definition)
                .extracting(definition -> definition.get("uri"))
                .containsExactly("upstream://all", "upstream://own", "http://10.0.0.4");
        assertThat(file.routes())
                .extracting(RouteDeclaration::definition)
                .allSatisfy(definition -> assertThat(definition).doesNotContainKeys("upstream", "uris"));
        assertThat(file.policy().upstreams().get("own"))
                .isEqualTo(Upstream.of(List.of(instance("http://10.0.0.2", 1), instance("http://10.0.0.3", 2))));
    }

    @Test
    void a_pool_may_have_permits_for_each_instance() {
        PolicyFile file = policy("""
                pools:
                  each: { permits: 4, per-instance-of: all }
                  whole: { permits: 4 }
                upstreams: { all: { uris: [ "http://10.0.0.1" ] } }
                """ + routes("a", "upstream: all", "each", "b", "upstream: all", "whole"));

        assertThat(file.policy().poolsPerInstance()).isEqualTo(Map.of("each", "all"));
        assertThat(file.warnings()).isEmpty();
    }

    @Test
    void upstreams_that_no_route_names_and_pools_of_other_upstreams_are_told_of() {
        PolicyFile file = policy("""
                pools: { each: { permits: 4, per-instance-of: all } }
                upstreams:
                  all: { uris: [ "http://10.0.0.1" ] }
                  other: { uris: [ "http://10.0.0.2" ] }
                """ + routes("a", "uri: \"http://10.0.0.3\"", "each"));

        assertThat(file.warnings())
                .extracting(Warning::toString)
                .containsExactly(
                        "p.yml:4: upstreams.all: warning: no route names this upstream",
                        "p.yml:5: upstreams.other: warning: no route names this upstream",
                        "p.yml:7: routes[0].filters[0]: warning: this pool has permits for each instance of upstream all, and the route is to another one");
    }

    @Test
    void a_route_to_an_upstream_is_told_of_without_fair_share() {
        PolicyFile file = policy("""
                pools: { orders: { permits: 4 } }
                upstreams: { all: { uris: [ "http://10.0.0.1" ] } }
                routes:
                  - { id: a, upstream: all, predicates: [ Path=/a/** ] }
                  - { id: b, uris: [ "http://10.0.0.1" ], predicates: [ Path=/b/** ] }
                """);

        assertThat(file.warnings()).extracting(Warning::key).containsExactly("routes[0].filters", "routes[1].filters");
    }
}

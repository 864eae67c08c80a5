package io.fairgate.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Warnings of routes that are allowed and rarely intended, and of names that nothing uses. */
class RouteWarningsTest {

    /** The first route is at line 7. */
    private static PolicyFile policy(String... routes) {
        return PolicyReader.read("p.yml", """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  members: { a: { plan: plan } }
                  plans: { plan: {} }
                pools: { pool: { permits: 4 } }
                routes:
                """ + String.join("\n", routes) + "\n");
    }

    private static List<String> warnings(String... routes) {
        return texts(policy(routes).warnings());
    }

    private static List<String> texts(List<Warning> warnings) {
        return warnings.stream().map(Warning::toString).toList();
    }

    private static String route(String id, String predicates) {
        return "  - { id: %s, uri: \"http://127.0.0.1:9\", predicates: [ %s ], filters: [ FairShare=pool ] }"
                .formatted(id, predicates);
    }

    private static String withMetadata(String predicates, String metadata) {
        return route("it", predicates).replace(" ] }", " ], metadata: { %s } }".formatted(metadata));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "Path=/**                              | Path=/orders/**",
                "Path=/orders/**                       | Path=/orders/**",
                "Path=/orders/**                       | Path=/orders",
                "'Path=/orders/{*rest}'                | 'Path=/orders/{id}/items'",
                "Path=/orders/*                        | 'Path=/orders/{id}'",
                "'Path=/orders/{id}'                   | Path=/orders/7",
                "'Path=/a/**,/b/**'                    | Path=/b/x",
                "'Path=/a/**,/b/**'                    | 'Path=/b/x,/a/y'",
                "Path=/a/**                            | Path=/a/**, Method=GET",
                "'Path=/a/**', 'Method=GET,POST'       | Path=/a/b, Method=POST",
                "'Method=GET,POST'                     | Path=/a/b, Method=POST",
                "Host=**.example.com                   | Path=/a/b, Host=**.example.com",
                "'Query=color,red'                     | Path=/a/b, { name: Query, args: { _genkey_0: color, _genkey_1: red } }",
                "Path=/a                               | { name: Path, args: { patterns: [ /a ] } }",
            })
    void a_route_behind_one_that_takes_all_of_its_requests_is_never_used(String earlier, String later) {
        assertThat(warnings(route("first", earlier), route("second", later)))
                .containsExactly(
                        "p.yml:8: routes[1]: warning: never used: the route first at line 7 comes first, and takes"
                                + " all requests that this one asks for");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "Path=/orders/**                       | Path=/**",
                "Path=/orders/**                       | Path=/invoices/**",
                "Path=/orders/*                        | Path=/orders/**",
                "Path=/orders/*                        | Path=/orders/a/b",
                "Path=/orders/*                        | Path=/orders/",
                "Path=/orders/a*                       | Path=/orders/ab",
                "'Path=/orders/{id}'                   | Path=/orders/*",
                "'Path=/orders/#{1}'                   | 'Path=#{T(java.lang.Math).PI}'",
                "'Path=/orders/{id:[0-9]+}'            | 'Path=/orders/{id}'",
                "Path=/orders/**/x                     | Path=/orders/y",
                "'Path=/a,false'                       | Path=/a",
                "Path=/a/**, Method=GET                | Path=/a/**",
                "Path=/a/**, Method=GET                | 'Path=/a/**', 'Method=GET,POST'",
                "Path=/a/**, 'Weight=g,5'              | Path=/a/**, 'Weight=g,5'",
                "Path=/a/**, Host=x.example.com        | Path=/a/**, Host=y.example.com",
                "Path=/a/**, 'Header=X-A,1'            | Path=/a/**, 'Header=X-A,2'",
                "Path=/a/**, Tenant=a                  | Path=/a/**",
            })
    void a_route_that_takes_other_requests_is_used(String earlier, String later) {
        assertThat(warnings(route("first", earlier), route("second", later))).isEmpty();
    }

    @Test
    void the_order_of_routes_counts_and_routes_that_are_off_do_not() {
        String general = route("general", "Path=/**");
        String special = route("special", "Path=/orders/**");
        assertThat(warnings(general, special.replace("{ id", "{ order: -1, id")))
                .isEmpty();
        assertThat(warnings(special, general.replace("{ id", "{ order: -1, id")))
                .singleElement()
                .asString()
                .startsWith("p.yml:7: routes[0]: warning: never used: the route general at line 8 ");
        assertThat(warnings(general.replace("{ id", "{ enabled: false, id"), special))
                .isEmpty();
        assertThat(warnings(general, special.replace("{ id", "{ enabled: false, id")))
                .isEmpty();
    }

    @Test
    void a_route_without_fair_share_is_told_of_unless_that_is_stated() {
        String plain = "  - { id: plain, uri: \"http://127.0.0.1:9\", predicates: [ Path=/plain/** ] }";
        String fair = route("fair", "Path=/fair/**");
        assertThat(warnings(fair, plain))
                .containsExactly(
                        "p.yml:8: routes[1].filters: warning: no FairShare, so these requests reach the upstream without"
                                + " a permit; if that is intended, say so with metadata: { fair-share: false }");
        assertThat(warnings(fair, plain.replace("] }", "], metadata: { fair-share: false } }")))
                .isEmpty();
        assertThat(warnings(fair, plain.replace("] }", "], enabled: false }"))).isEmpty();
        assertThat(warnings(fair, plain.replace("http://127.0.0.1:9", "no://op")))
                .isEmpty();
        assertThat(warnings(fair, plain.replace("] }", "], filters: [ \"RedirectTo=302,https://x.example\" ] }")))
                .isEmpty();
        assertThat(warnings(fair.replace("] }", "], metadata: { fair-share: true } }")))
                .isEmpty();
    }

    @Test
    void a_route_that_cannot_be_read_shadows_no_other() {
        String second = route("second", "Path=/a");
        assertThatThrownBy(() -> warnings(route("first", "Path=/a").replace("predicates:", "predicate:"), second))
                .isInstanceOfSatisfying(InvalidPolicyException.class, invalid -> {
                    assertThat(invalid.mistakes()).hasSize(1);
                    assertThat(invalid.readable().warnings()).isEmpty();
                });
        assertThatThrownBy(() -> warnings(route("first", "{ nam: Path }"), second))
                .isInstanceOfSatisfying(
                        InvalidPolicyException.class,
                        invalid -> assertThat(invalid.readable().warnings()).isEmpty());
    }

    @Test
    void thousands_of_routes_are_compared_with_each_other() {
        String[] routes = new String[3000];
        for (int i = 0; i < routes.length; i++) {
            routes[i] = route("r" + i, "Path=/api/v1/tenant%d/**, 'Method=GET,POST'".formatted(i));
        }
        assertThat(warnings(routes)).isEmpty();
        routes[2999] = route("last", "Path=/api/v1/tenant2998/x, Method=POST");
        assertThat(warnings(routes))
                .singleElement()
                .asString()
                .contains("routes[2999]: warning: never used: the route r2998 ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "RedirectTo=302,https://user:secret@x.example | every client gets the credentials in this URI",
                "SetRequestUri=http://user:secret@x.example   | the credentials in this URI are not sent",
            })
    void credentials_in_the_uri_of_a_filter_are_told_of(String filter, String warning) {
        assertThat(warnings(route("it", "Path=/a").replace("FairShare=pool", "FairShare=pool, \"" + filter + '"')))
                .containsExactly("p.yml:7: routes[0].filters[1]: warning: " + warning);
    }

    @Test
    void a_predicate_of_a_library_may_have_variables_that_are_not_known() {
        assertThat(warnings(
                        route("it", "Path=/a, Own=1").replace("FairShare=pool", "FairShare=pool, \"SetPath=/{own}\"")))
                .isEmpty();
    }

    @Test
    void without_pools_no_route_can_have_fair_share() {
        assertThat(PolicyReader.read("p.yml", """
                        tenants: { identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ] }
                        routes:
                          - { id: plain, uri: "http://127.0.0.1:9", predicates: [ Path=/plain/** ] }
                        """).warnings()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "Method=GTE      | GTE is not a registered method of HTTP; did you mean GET?",
                "Method=FETCH    | FETCH is not a registered method of HTTP",
                "'Method=GET,Xy' | Xy is not a registered method of HTTP",
            })
    void a_method_that_is_not_registered_may_be_private(String predicate, String warning) {
        assertThat(warnings(route("it", "Path=/a, " + predicate)))
                .containsExactly("p.yml:7: routes[0].predicates[1]: warning: " + warning);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROPFIND", "QUERY", "PURGE"})
    void a_registered_method_causes_no_warning(String method) {
        assertThat(warnings(route("it", "Path=/a, Method=" + method))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "response-timeout: 5000  | response-timeout | a number of milliseconds; write it with its unit, such as 250ms",
                "response-timeout: -1    | response-timeout | a number below 0 switches the timeout off; write none",
                "connect-timeout: 500    | connect-timeout  | a number of milliseconds; write it with its unit, such as 250ms",
                "respons-timeout: 5s     | respons-timeout  | nothing in the gateway reads this key (it reads response-timeout, connect-timeout, fair-share, cors; did you mean response-timeout?)",
                "colour: red             | colour           | nothing in the gateway reads this key (it reads response-timeout, connect-timeout, fair-share, cors)",
            })
    void metadata_that_say_something_else_than_they_seem_to_are_told_of(String metadata, String key, String warning) {
        assertThat(warnings(withMetadata("Path=/a", metadata)))
                .containsExactly("p.yml:7: routes[0].metadata.%s: warning: %s".formatted(key, warning));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "Host=API.example.com    | API.example.com has letters in upper case, and clients send hosts in lower case",
                "'Host={Sub}.example.com' |",
                "Host=**.example.com:*    |",
            })
    void a_host_in_upper_case_is_told_of(String predicate, @Nullable String warning) {
        List<String> expected = Stream.ofNullable(warning)
                .map(text -> "p.yml:7: routes[0].predicates[1]: warning: " + text)
                .toList();
        assertThat(warnings(route("it", "Path=/a, " + predicate))).isEqualTo(expected);
    }

    private static final String CORS = "cors: { allowedOrigins: [ \"https://a.example\" ], maxAge: 1h }";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "'Path=/a/**,/b/**'            | only for requests of the first path, /a/**; Spring Cloud Gateway ignores the others here, so give each a route",
                "Path=/a, 'Method=GET,POST'    | the route takes no preflight request, so browsers send only simple requests; its Method needs OPTIONS",
                "Host=a.example                | for all paths of the gateway, also of other routes, because the route has no Path",
                "Path=/a, 'Cookie=a,b'         | the route takes no preflight request, so browsers send only simple requests; no preflight request meets its predicate Cookie",
                "Path=/a, Header=X-A           | the route takes no preflight request, so browsers send only simple requests; no preflight request meets its predicate Header",
            })
    void cors_settings_that_have_less_effect_than_they_seem_to_are_told_of(String predicates, String warning) {
        assertThat(warnings(withMetadata(predicates, CORS)))
                .containsExactly("p.yml:7: routes[0].metadata.cors: warning: " + warning);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Path=/a/**",
                "'Path=/a/**,false'",
                "Path=/a, 'Method=GET,OPTIONS'",
                "Path=/a, Query=x",
                "Path=/a, Tenant=a",
                "Path=/a, Header=Origin"
            })
    void cors_settings_of_a_route_that_takes_preflight_requests_cause_no_warning(String predicates) {
        assertThat(warnings(withMetadata(predicates, CORS))).isEmpty();
    }

    @Test
    void cors_settings_of_one_path_are_told_of_when_two_routes_have_them() {
        String second = withMetadata("Path=/a/**, Host=b.example", CORS).replace("id: it", "id: other");
        assertThat(warnings(withMetadata("'Path=/a/**', Host=a.example", CORS), second))
                .containsExactly(
                        "p.yml:8: routes[1].metadata.cors: warning: the settings at line 7 are for the same path, /a/**,"
                                + " and only one of them counts");
    }

    @Test
    @SuppressWarnings("unchecked")
    void times_in_the_metadata_are_what_spring_cloud_gateway_reads() {
        RouteDeclaration route = policy(withMetadata(
                        "Path=/a", "response-timeout: 5s, connect-timeout: 250ms, " + CORS + ", colour: red"))
                .routes()
                .get(0);
        Map<String, Object> metadata = (Map<String, Object>) route.definition().get("metadata");
        assertThat(metadata)
                .containsEntry("response-timeout", 5000)
                .containsEntry("connect-timeout", 250)
                .containsEntry("colour", "red")
                .containsEntry("cors", Map.of("allowedOrigins", List.of("https://a.example"), "maxAge", 3600L));
        RouteDeclaration odd = policy(
                        withMetadata(
                                "Path=/a",
                                "cors: { allowedOriginPatterns: 5, allowedMethods: GET, allowedHeaders: [ 1, X-B ], allowCredentials: true }"))
                .routes()
                .get(0);
        assertThat((Map<String, Object>) odd.definition().get("metadata"))
                .containsEntry(
                        "cors",
                        Map.of(
                                "allowedOriginPatterns",
                                List.of("5"),
                                "allowedMethods",
                                List.of("GET"),
                                "allowedHeaders",
                                List.of("1", "X-B"),
                                "allowCredentials",
                                true));
        RouteDeclaration endless = policy(withMetadata("Path=/a", "response-timeout: none"))
                .routes()
                .get(0);
        assertThat((Map<String, Object>) endless.definition().get("metadata")).containsEntry("response-timeout", -1);
    }

    @Test
    void names_that_nothing_uses_are_told_of() {
        PolicyFile file = PolicyReader.read("p.yml", """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  unknown: others
                  members: { a: { plan: plan } }
                  plans:
                    plan: { parent: inner }
                    others: {}
                    gold: {}
                  groups:
                    outer: {}
                    inner: { parent: outer }
                    empty: { parent: outer }
                  classes:
                    batch: {}
                    interactive: {}
                pools:
                  pool: { permits: 4 }
                  lonely: { permits: 4 }
                routes:
                  - { id: it, uri: "http://127.0.0.1:9", predicates: [ Path=/a ], filters: [
                      { name: FairShare, args: { pool: pool, class: batch } } ] }
                """);
        assertThat(texts(file.warnings()))
                .containsExactly(
                        "p.yml:8: tenants.plans.gold: warning: no tenant has this plan",
                        "p.yml:12: tenants.groups.empty: warning: no tenant and no group is in this group",
                        "p.yml:15: tenants.classes.interactive: warning: no route names this class");
        assertThat(texts(file.unusedPools()))
                .containsExactly(
                        "p.yml:18: pools.lonely: warning: no route uses this pool, and leases are off (fairgate.leases.enabled)");
    }

    @Test
    void properties_have_no_routes_that_could_use_a_class_or_a_pool() {
        PolicyFile properties = PolicyReader.readProperties(
                "fairgate.policy",
                Map.of(
                        "tenants",
                        Map.of(
                                "identify",
                                Map.of(0, Map.of("header", "X-Tenant-Id", "trusted-from", "127.0.0.1")),
                                "plans",
                                Map.of("gold", Map.of("weight", "2")),
                                "classes",
                                Map.of("batch", "")),
                        "pools",
                        Map.of("pool", Map.of("permits", "4"))));
        assertThat(texts(properties.warnings()))
                .containsExactly("fairgate.policy.tenants.plans.gold: warning: no tenant has this plan");
        assertThat(properties.unusedPools()).isEmpty();
    }
}

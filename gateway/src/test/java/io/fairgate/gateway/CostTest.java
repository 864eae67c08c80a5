package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cost of requests that is known before they are forwarded. Tests that charge have their own tenants. */
class CostTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    private static final Balances balances = new Balances(gateway);

    private final Queue<String> heads = new ConcurrentLinkedQueue<>();

    @BeforeAll
    static void start() {
        gateway.start("""
                tenants:
                  identify:
                    - { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] }
                  plans:
                    ten: { quotas: [ { name: total, limit: 10, per: total } ] }
                    many: { quotas: [ { name: total, limit: 1000000, per: total } ] }
                  members:
                    fixed: { plan: ten }
                    told: { plan: ten }
                    large: { plan: ten }
                    odd: { plan: many }
                routes:
                  - { id: plain, uri: "UPSTREAM", predicates: [ "Path=/plain/**" ] }
                  - { id: five, uri: "UPSTREAM", predicates: [ "Path=/five/**" ], filters: [ "Cost=5" ] }
                  - { id: none, uri: "UPSTREAM", predicates: [ "Path=/none/**" ], filters: [ "Cost=0" ] }
                  - { id: large, uri: "UPSTREAM", predicates: [ "Path=/large/**" ], filters: [ "Cost=11" ] }
                  - id: told
                    uri: "UPSTREAM"
                    predicates: [ "Path=/told/**" ]
                    filters: [ { name: Cost, args: { units: 2, header: X-Units, trusted-from: "127.0.0.0/8", max: 4 } } ]
                  - id: not-told
                    uri: "UPSTREAM"
                    predicates: [ "Path=/not-told/**" ]
                    filters: [ { name: Cost, args: { header: X-Units, trusted-from: "10.0.0.0/8, ::1" } } ]
                  - id: rules
                    uri: "UPSTREAM"
                    predicates: [ "Path=/rules/**" ]
                    filters: [ { name: Cost, args: { rules: "GET /rules/reports/** = 4, * /rules/** = 2" } } ]
                """.replace("UPSTREAM", upstream.url()), "--fairgate.ambiguous-paths=pass");
    }

    @BeforeEach
    void noteHeads() {
        for (String path : List.of("/told/x", "/not-told/x")) {
            upstream.on(path, exchange -> {
                heads.add(exchange.head());
                ScriptedUpstream.OK.answer(exchange);
            });
        }
    }

    private static Answer ask(String path, String tenant, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "X-Tenant-Id";
        all[1] = tenant;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return Answer.to(gateway.url(path), all);
    }

    /** The cost of a request, from the balances before and after it. */
    private static long taken(Runnable request) {
        long before = balances.of("odd", "plain").get(0);
        request.run();
        return before - balances.of("odd", "plain").get(0);
    }

    @Test
    void each_route_may_have_its_own_cost() {
        assertThat(ask("/five/x", "fixed").field("RateLimit")).isEqualTo("\"total\";r=5");
        assertThat(ask("/five/x", "fixed").status()).isEqualTo(200);
        assertThat(ask("/plain/x", "fixed").status()).isEqualTo(429);
        assertThat(ask("/none/x", "fixed").status()).isEqualTo(200);
    }

    @Test
    void a_cost_header_counts_only_from_trusted_peers_and_is_never_forwarded() {
        ask("/told/x", "told", "X-Units", "3");
        balances.await("told", 7);
        ask("/not-told/x", "told", "X-Units", "3");
        balances.await("told", 6);
        assertThat(heads).hasSize(2).allSatisfy(head -> assertThat(head).doesNotContainIgnoringCase("x-units"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "X-Units: 3                       | 3",
                "X-Units: 0                       | 0",
                "X-Units: 1000                    | 4",
                "X-Units: 99999999999999999999999 | 4",
                "X-Units: 000000000000000000003   | 3",
                "X-Units: -3                      | 2",
                "X-Units: 1e9                     | 2",
                "X-Units: 3.5                     | 2",
                "X-Units: NaN                     | 2",
                "X-Units:                         | 2",
                // A client that can add a line cannot make the gateway ignore the other line.
                "X-Units: 0\\nX-Units: 3          | 3",
                "X-Units: 3\\nX-Units: 0          | 3",
                "X-Units: x\\nX-Units: 3          | 3",
                "X-Units: 0, 3                    | 3",
                // Another header: it neither counts nor is forwarded.
                "X_Units: 0                       | 2",
                "X-Units: 3\\nX_Units: 4          | 3",
                "x.units: 0                       | 2",
                "X-Units-2: 0                     | 2",
            })
    void a_cost_header_with_any_value_is_bounded_and_never_forwarded(String lines, long units) {
        String raw = lines.replace("\\n", "\r\n");
        assertThat(taken(() -> raw("/told/x", raw))).isEqualTo(units);
        assertThat(heads)
                .singleElement()
                .satisfies(head ->
                        assertThat(head.replaceAll("(?m)^X-Units-2:.*$", "")).doesNotContainPattern("(?i)x[-_.]units"));
    }

    @ParameterizedTest
    @CsvSource({
        "/rules/reports/7, 4",
        "/rules/x, 2",
        "/rules//reports/7, 4",
        "/rules/x/../reports/7, 4",
        "/rules/%2e%2E/rules/reports/7, 4",
        "/rules/reports%2f7, 4",
        "/rules/;x/reports;y/7, 4",
        "/rules/Reports/7, 4",
        "/rules/reports%2F..%2fx, 4",
        "/rules/a%2Fb//c, 2",
    })
    void method_and_path_determine_the_cost_in_every_spelling(String path, long units) {
        assertThat(taken(() -> raw(path, "X-Any: 1"))).isEqualTo(units);
        // Spring Cloud Gateway merges slashes on the way, and leaves the rest to the upstream.
        assertThat(upstream.requests()).contains("GET " + path.replace("//", "/") + " HTTP/1.1");
    }

    @Test
    void a_cost_above_the_limit_is_refused_without_retry_after() {
        Answer refused = ask("/large/x", "large");
        assertThat(refused.status()).isEqualTo(429);
        assertThat(refused.lines("Retry-After")).isEmpty();
    }

    private static String raw(String path, String lines) {
        try (RawClient client = new RawClient(gateway.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Tenant-Id: odd\r\n"
                            + lines + "\r\n\r\n")
                    .readAll();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

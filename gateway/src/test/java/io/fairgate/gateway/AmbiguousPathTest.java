package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Paths that servers read in different ways: the gateway could choose another route than the upstream expects. */
class AmbiguousPathTest {

    @RegisterExtension
    static final ScriptedUpstream upstream = new ScriptedUpstream();

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @BeforeAll
    static void start() {
        gateway.start(TestPolicy.onePool(upstream.url(), "permits: 2"));
    }

    private static String get(String path) throws IOException {
        try (RawClient client = new RawClient(gateway.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-Tenant-Id: a\r\n\r\n")
                    .readAll();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/plain//x",
                "/plain/../fair/x",
                "/plain/./x",
                "/plain/..",
                "/plain/.",
                "/plain/%2e%2E/fair/x",
                "/plain/.%2e/fair/x",
                "/plain/%2E/x",
                "/plain/..;a=b/fair/x",
                "/plain/..%3Ba=b/fair/x",
                "/plain/..%3b/fair/x",
                "/plain/a%2Fb",
                "/plain/a%2fb",
                "/plain/..%2Ffair/x",
                "/plain/a%5Cb",
                "/plain/..%5c..%5cfair",
                "/plain/;a=b//x"
            })
    void a_path_that_servers_read_in_different_ways_is_refused(String path) throws IOException {
        int before = upstream.requests().size();
        assertThat(get(path))
                .startsWith("HTTP/1.1 400 Bad Request\r\n")
                .contains("application/problem+json", "\"reason\":\"ambiguous-path\"")
                .doesNotContain(path);
        assertThat(upstream.requests()).hasSize(before);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/plain/x",
                "/plain/x/",
                "/plain/.well-known/x",
                "/plain/..x/x...",
                "/plain/...",
                "/plain/a;b=c/d",
                "/plain/a%20b",
                "/plain/x?next=//a/../%2F",
                "/%70lain/x"
            })
    void a_path_that_all_servers_read_alike_passes(String path) throws IOException {
        assertThat(get(path)).startsWith("HTTP/1.1 200 OK\r\n");
        assertThat(upstream.requests()).contains("GET " + path + " HTTP/1.1");
    }

    @Test
    void a_refused_path_is_counted() throws IOException {
        double before = count();
        get("/fair//x");
        assertThat(count()).isEqualTo(before + 1);
    }

    private static double count() {
        return MetricsPage.of(gateway)
                .value(
                        "fairgate_refusals_total",
                        "enforced",
                        "true",
                        "pool",
                        "none",
                        "reason",
                        "ambiguous-path",
                        "tenant",
                        "_other");
    }
}

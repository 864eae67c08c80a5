package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Pages in the browser of an operator cannot use the management port. */
@ExtendWith(OutputCaptureExtension.class)
class ManagementAccessTest {

    @RegisterExtension
    static final RunningGateway gateway = new RunningGateway();

    @BeforeAll
    static void start() {
        gateway.start(
                TestPolicy.onePool("http://127.0.0.1:9", "permits: 1"),
                "--fairgate.management.hosts[0]=Metrics.example.org",
                "--fairgate.management.hosts[1]=gateway.internal");
    }

    private static RawAnswer ask(String start, String... fields) throws IOException {
        try (RawClient client = new RawClient(gateway.managementPort())) {
            String lines = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
            return Objects.requireNonNull(client.send(start + " HTTP/1.1\r\n" + lines + "Connection: close\r\n\r\n")
                    .answer());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:8081",
                "127.0.0.1:8081",
                "10.1.2.3",
                "[::1]:8081",
                "gateway",
                "gateway:8081",
                "app.localhost:8081",
                "metrics.example.org",
                "METRICS.example.org:8081",
                "gateway.internal"
            })
    void a_host_of_the_operator_is_served(String host) throws IOException {
        assertThat(ask("GET /actuator/health", "Host: " + host).status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example",
                "metrics.example.org.evil.example", "evil.metrics.example.org", "evil.example.", "1.2.3"
            })
    void a_host_of_another_name_is_not(String host) throws IOException {
        for (String start : new String[] {"GET /actuator/pools", "POST /actuator/policy", "OPTIONS /actuator"}) {
            RawAnswer answer = ask(start, "Host: " + host);
            assertThat(answer.status()).as(start).isEqualTo(421);
            assertThat(answer.body()).contains("fairgate.management.hosts", "\"reason\":\"host\"");
        }
    }

    @Test
    void more_than_one_host_is_refused_and_none_is_served() throws IOException {
        assertThat(ask("GET /actuator/health").status()).isEqualTo(200);
        assertThat(ask("GET /actuator/health", "Host: localhost", "Host: localhost")
                        .status())
                .isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource({
        "Origin: http://evil.example, 403",
        "Origin: null, 403",
        "Origin: http://localhost:3000, 403",
        "Origin: http://evil.example@localhost:8081, 403",
        "Origin: |, 403",
        "Sec-Fetch-Site: cross-site, 403",
        "Sec-Fetch-Site: same-site, 403",
        "Origin: http://localhost:8081, 200",
        "Origin: https://LOCALHOST:8081, 200",
        "Sec-Fetch-Site: same-origin, 200",
        "Sec-Fetch-Site: none, 200",
        "'Origin: http://proxy.example\r\nSec-Fetch-Site: same-origin', 200",
        "X-Other: 1, 200",
    })
    void only_its_own_pages_may_write(String field, int status) throws IOException {
        int found = ask("POST /actuator/policy", "Host: localhost:8081", "Content-Length: 0", field)
                .status();
        assertThat(found).isEqualTo(status);
        assertThat(ask("GET /actuator/pools", "Host: localhost:8081", field).status())
                .isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/actuator/health/liveness", "/actuator/health/readiness"})
    void load_balancers_may_ask_for_the_probes_by_any_name(String path) throws IOException {
        assertThat(ask("GET " + path, "Host: gateway.example.org").status()).isEqualTo(200);
        assertThat(ask("POST " + path, "Host: gateway.example.org").status()).isEqualTo(421);
    }

    @Test
    void a_health_path_that_is_unknown_is_404(CapturedOutput output) throws IOException {
        for (String path : new String[] {"/x", "/x/y", "/x/y/z", "/readiness/x/y"}) {
            assertThat(ask("GET /actuator/health" + path, "Host: localhost").status())
                    .as(path)
                    .isEqualTo(404);
        }
        assertThat(output.getOut()).doesNotContain("IllegalStateException");
    }
}

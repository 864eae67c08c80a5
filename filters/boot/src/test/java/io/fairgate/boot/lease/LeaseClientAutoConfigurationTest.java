package io.fairgate.boot.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import io.fairgate.client.LeaseOptions;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The bean of the lease client. */
class LeaseClientAutoConfigurationTest {

    private final ApplicationContextRunner applications =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(LeaseClientAutoConfiguration.class));

    @Test
    void without_an_address_there_is_no_client() {
        applications.run(application -> assertThat(application).hasNotFailed().doesNotHaveBean(LeaseClient.class));
        applications
                .withPropertyValues("fairgate.lease-client.uri=http://127.0.0.1:1")
                .withClassLoader(new FilteredClassLoader(LeaseClient.class))
                .run(application -> assertThat(application).hasNotFailed());
    }

    @Test
    void the_client_sends_the_credential_to_the_address() {
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        DisposableServer server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> {
                    calls.add(request.uri() + " " + request.requestHeaders().get("X-Key"));
                    return response.status(403).send();
                })
                .bindNow();
        applications
                .withPropertyValues(
                        "fairgate.lease-client.uri=http://127.0.0.1:" + server.port(),
                        "fairgate.lease-client.header=X-Key",
                        "fairgate.lease-client.credential=secret-of-acme",
                        "fairgate.lease-client.connections=3")
                .run(application -> {
                    LeaseClientSettings settings = application.getBean(LeaseClientSettings.class);
                    assertThat(settings.connections()).isEqualTo(3);
                    assertThat(settings.toString() + application.getBean(LeaseClientProperties.class))
                            .doesNotContain("secret");
                    LeaseClient client = application.getBean(LeaseClient.class);
                    client.withLease(LeaseOptions.of("orders"), lease -> Mono.empty())
                            .onErrorComplete()
                            .block(Duration.ofSeconds(20));
                });
        assertThat(calls)
                .isNotEmpty()
                .allSatisfy(call -> assertThat(call).startsWith("/v1/").endsWith(" secret-of-acme"));
        server.disposeNow();
    }

    @Test
    void beans_of_the_application_come_first() {
        LeaseClientSettings settings = LeaseClientSettings.at(URI.create("http://127.0.0.1:7"));
        applications
                .withPropertyValues("fairgate.lease-client.uri=http://127.0.0.1:8")
                .withBean(LeaseClientSettings.class, () -> settings)
                .run(application -> assertThat(application)
                        .hasSingleBean(LeaseClient.class)
                        .getBean(LeaseClientSettings.class)
                        .isSameAs(settings));
        LeaseClient client = LeaseClient.to(settings);
        applications
                .withPropertyValues("fairgate.lease-client.uri=http://127.0.0.1:8")
                .withBean(LeaseClient.class, () -> client)
                .run(application -> assertThat(application)
                        .doesNotHaveBean(LeaseClientSettings.class)
                        .getBean(LeaseClient.class)
                        .isSameAs(client));
    }

    @Test
    void an_empty_address_or_credential_is_none() {
        applications
                .withPropertyValues("fairgate.lease-client.uri=", "fairgate.lease-client.credential=key")
                .run(application -> assertThat(application).hasNotFailed().doesNotHaveBean(LeaseClient.class));
        applications
                .withPropertyValues("fairgate.lease-client.uri=http://h", "fairgate.lease-client.credential= ")
                .run(application -> assertThat(
                                application.getBean(LeaseClientSettings.class).credential())
                        .isNull());
    }

    private void assertRefused(String message, String... properties) {
        applications
                .withPropertyValues(properties)
                .run(application -> assertThat(Objects.requireNonNull(application.getStartupFailure()))
                        .hasStackTraceContaining(message));
    }

    @Test
    void a_wrong_setting_is_named() {
        String address = "fairgate.lease-client.uri=http://h";
        assertRefused(
                "fairgate.lease-client.uri: ftp://127.0.0.1 (expected: http://HOST:PORT or https://HOST:PORT)",
                "fairgate.lease-client.uri=ftp://127.0.0.1");
        assertRefused(
                "fairgate.lease-client.uri: 127.0.0.1:8000 (expected: http://HOST:PORT or https://HOST:PORT)",
                "fairgate.lease-client.uri=127.0.0.1:8000");
        assertRefused(
                "fairgate.lease-client.uri: missing (expected: http://HOST:PORT, or empty for no client)",
                "fairgate.lease-client.connections=3");
        assertRefused(
                "fairgate.lease-client.connections: 0 (expected: >= 1)",
                address,
                "fairgate.lease-client.connections=0");
        assertRefused(
                "fairgate.lease-client.header: X Bad (expected: the name of a header)",
                address,
                "fairgate.lease-client.header=X Bad",
                "fairgate.lease-client.credential=key");
        assertRefused("fairgate.lease-client.credentail", address, "fairgate.lease-client.credentail=key");
        assertRefused(
                "fairgate.lease-client.credential: with a control character (expected: one line of text)",
                address,
                "fairgate.lease-client.credential=key\r\nX-Tenant-Id: other");
    }
}

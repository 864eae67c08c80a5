package io.fairgate.spring.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.spring.OwnLoop;
import io.fairgate.testkit.TestTime;
import io.fairgate.upstream.HealthCheck;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;

class InstanceCheckTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final TestTime time = new TestTime();
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    private final DisposableServer server = OwnLoop.server()
            .handle((request, response) -> {
                asked.add(request.uri() + " " + request.requestHeaders().get("Host"));
                String status = request.path();
                return status.equals("hang")
                        ? Mono.never()
                        : response.status(Integer.parseInt(status)).send();
            })
            .bindNow();
    private final InstanceCheck check = new InstanceCheck(HttpClient.create(), time);

    @AfterEach
    void stop() {
        server.disposeNow(PATIENCE);
    }

    @ParameterizedTest
    @CsvSource({"200, true", "204, true", "302, true", "400, false", "404, false", "500, false", "503, false"})
    void an_instance_is_ready_if_its_answer_has_a_status_below_400(String status, boolean isReady) {
        assertThat(passes(here(), "/" + status)).isEqualTo(isReady);
    }

    @Test
    void the_check_has_the_host_of_the_instance_and_its_query() throws Exception {
        InstanceAddress named = new InstanceAddress(
                URI.create("http://orders.test:" + server.port()), InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        assertThat(passes(named, "/200?deep=1")).isTrue();
        assertThat(asked).containsExactly("/200?deep=1 orders.test:" + server.port());
    }

    @Test
    void an_instance_that_does_not_answer_in_time_is_not_ready() throws Exception {
        CompletableFuture<Boolean> passes = check.passes(
                        here(), new HealthCheck("/hang", Duration.ofSeconds(5), Duration.ofSeconds(1)))
                .toFuture();
        assertThat(asked.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        time.advanceBy(Duration.ofMillis(999));
        assertThat(passes).isNotDone();
        time.advanceBy(Duration.ofMillis(1));
        assertThat(passes.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void an_instance_that_is_not_there_is_not_ready() {
        for (String uri : List.of("http://127.0.0.1:1", "https://127.0.0.1:1", "http://no-such-host.invalid:80")) {
            assertThat(passes(new InstanceAddress(URI.create(uri), null), "/")).isFalse();
        }
    }

    private InstanceAddress here() {
        return new InstanceAddress(URI.create("http://127.0.0.1:" + server.port()), null);
    }

    private boolean passes(InstanceAddress instance, String path) {
        return Objects.requireNonNull(
                check.passes(instance, new HealthCheck(path, Duration.ofSeconds(5), Duration.ofSeconds(1)))
                        .block(PATIENCE));
    }
}

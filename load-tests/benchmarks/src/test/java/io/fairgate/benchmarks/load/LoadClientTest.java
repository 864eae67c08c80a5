package io.fairgate.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

class LoadClientTest {

    private final Map<String, Integer> requests = new ConcurrentHashMap<>();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final AtomicInteger mostAtOnce = new AtomicInteger();

    /** Answers with the status that the path names, in chunks, which gateways may use for refusals. */
    private final DisposableServer server = HttpServer.create()
            .host("127.0.0.1")
            .port(0)
            .handle((request, response) -> {
                mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                requests.merge(request.requestHeaders().get("X-Tenant-Id", "none"), 1, Integer::sum);
                int status = Integer.parseInt(request.uri().substring(1));
                return response.status(HttpResponseStatus.valueOf(status))
                        .sendString(Mono.delay(Duration.ofMillis(2)).map(tick -> "body " + atOnce.decrementAndGet()));
            })
            .bindNow();

    private final LoadClient client = new LoadClient();

    @AfterEach
    void close() {
        client.close();
        server.disposeNow();
    }

    private Load times(int requests, String path) {
        return Load.times(requests, server.port(), path, List.of("a", "b"), 4);
    }

    @Test
    void so_many_requests_are_sent_and_the_tenants_take_turns() {
        LoadResult result = client.run(times(100, "/200"));

        assertThat(result.answered()).isEqualTo(100);
        assertThat(result.latencies().count()).isEqualTo(100);
        assertThat(result.refused()).isZero();
        assertThat(requests).isEqualTo(Map.of("a", 50, "b", 50));
    }

    @Test
    void no_more_requests_are_under_way_than_there_are_connections() {
        client.run(times(200, "/200"));

        assertThat(mostAtOnce.get()).isBetween(1, 4);
    }

    @Test
    void a_load_for_a_time_ends_and_all_its_requests_are_answered() {
        LoadResult result = client.run(Load.during(Duration.ofMillis(200), server.port(), "/200", List.of("a"), 4));

        assertThat(result.answered())
                .isPositive()
                .isEqualTo(requests.getOrDefault("a", 0).longValue());
        assertThat(result.latencies().count()).isLessThanOrEqualTo((int) result.answered());
        assertThat(result.time()).isEqualTo(Duration.ofMillis(200));
    }

    @Test
    void answers_before_the_measured_time_are_not_measured() {
        Load load = Load.times(20, server.port(), "/200", List.of("a"), 4).after(Duration.ofMinutes(5));

        LoadResult result = client.run(load);

        assertThat(result.answered()).isEqualTo(20);
        assertThat(result.latencies().count()).isZero();
    }

    @Test
    void refusals_are_counted_apart() {
        LoadResult tooMany = client.run(times(8, "/429"));
        LoadResult saturated = client.run(times(8, "/503"));

        assertThat(List.of(tooMany.refused(), saturated.refused())).containsOnly(8L);
        assertThat(tooMany.latencies().count()).isZero();
    }

    @Test
    void a_load_of_requests_with_one_answer_takes_no_other() {
        LoadResult missing = client.run(times(8, "/401").answeredWith(401));

        assertThat(missing.refused()).isEqualTo(8);
        assertThatThrownBy(() -> client.run(times(8, "/429").answeredWith(401)))
                .cause()
                .hasMessage("429 (expected: 401)");
    }

    @Test
    void a_load_without_tenants_sends_requests_without_a_tenant() {
        client.run(Load.times(8, server.port(), "/200", List.of(), 4));

        assertThat(requests).isEqualTo(Map.of("none", 8));
    }

    @Test
    void any_other_answer_ends_the_load_with_an_error() {
        assertThatThrownBy(() -> client.run(times(8, "/500")))
                .hasMessage("the load ended early")
                .cause()
                .hasMessage("500 (expected: 200 or 429 or 503)");
    }

    @Test
    void a_server_that_is_gone_ends_the_load_with_an_error() {
        int port = server.port();
        server.disposeNow();

        assertThatThrownBy(() -> client.run(Load.times(8, port, "/200", List.of("a"), 4)))
                .hasMessage("the load ended early");
    }
}

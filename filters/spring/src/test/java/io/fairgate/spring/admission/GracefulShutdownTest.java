package io.fairgate.spring.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.PoolSettings;
import io.fairgate.permit.embedded.EmbeddedPermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.spring.RequestWithoutConnection;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.fairshare.PoolsPerInstance;
import io.fairgate.spring.metrics.FairgateMeters;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Refusal;
import io.fairgate.testkit.TestTime;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.ServerWebExchange;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** When requests are refused, and when the port is closed. {@code DrainIT} does it with requests. */
class GracefulShutdownTest {

    private static final Duration GRACE = Duration.ofSeconds(5);

    private final TestTime time = new TestTime();
    private final LateConnections late =
            new LateConnections(new DefaultChannelGroup(GlobalEventExecutor.INSTANCE), false);
    private final OpenServers servers = new OpenServers(late);
    private final DisposableServer server =
            servers.remember(HttpServer.create().host("127.0.0.1").port(0)).bindNow();
    private final CountDownLatch done = new CountDownLatch(1);
    private final GracefulShutdown shutdown = shutdown();

    private GracefulShutdown shutdown() {
        PolicyHolder policy = new PolicyHolder(new Policy(
                List.of(),
                Map.of(),
                null,
                Map.of("one", new PoolSettings(1, 100, Duration.ofSeconds(100), Duration.ofSeconds(1000)))));
        FairgateMeters meters = new FairgateMeters(policy, new SimpleMeterRegistry(), 100, time);
        PermitPools pools = new PermitPools(
                policy.current(),
                (name, settings, shares, listener) -> new EmbeddedPermitPool(name, settings, shares, time, listener),
                time,
                meters,
                PoolsPerInstance.NONE);
        return new GracefulShutdown(servers, late, pools, meters, GRACE, Duration.ofSeconds(10), time);
    }

    private static ServerWebExchange request() {
        return MockServerWebExchange.from(MockServerHttpRequest.get("/"))
                .mutate()
                .request(new RequestWithoutConnection(HttpMethod.GET, new HttpHeaders()))
                .build();
    }

    @AfterEach
    void close() {
        server.disposeNow();
    }

    @Test
    void in_the_grace_time_the_port_is_open_and_requests_are_served() {
        shutdown.start();
        shutdown.stop(done::countDown);
        time.advanceBy(GRACE.minusNanos(1));
        assertThatNoException().isThrownBy(() -> shutdown.requireRunning(request()));
        assertThat(shutdown.hasBegun()).isFalse();
        assertThat(server.isDisposed()).isFalse();
    }

    @Test
    void after_the_grace_time_the_port_is_closed_and_a_request_that_still_came_in_is_refused() throws Exception {
        shutdown.start();
        shutdown.stop(done::countDown);
        time.advanceBy(GRACE);
        assertThatThrownBy(() -> shutdown.requireRunning(request()))
                .isInstanceOfSatisfying(
                        NotAdmittedException.class,
                        refused -> assertThat(refused.isFor(Refusal.DRAINING)).isTrue());
        assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
        server.onDispose().block(Duration.ofMinutes(1));
        assertThat(shutdown.isRunning()).isFalse();
    }
}

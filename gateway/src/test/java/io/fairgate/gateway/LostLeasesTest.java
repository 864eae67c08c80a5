package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.lease.FencingTokens;
import io.fairgate.lease.LeasedPools;
import io.fairgate.lease.Leases;
import io.fairgate.lease.embedded.EmbeddedLeases;
import io.fairgate.testkit.odd.Network;
import io.fairgate.testkit.odd.OddLeases;
import io.fairgate.time.MonotonicScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** A gateway whose leases are behind a network, which loses its connection. */
class LostLeasesTest {

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    private final LeasingTenant tenant = new LeasingTenant(gateway, "a");

    /** Before the gateway's own configuration, which makes leases only when there are none. */
    @Order(Ordered.HIGHEST_PRECEDENCE)
    @Configuration(proxyBeanMethods = false)
    static class LeasesBehindNetwork {

        @Bean
        Network network() {
            return new Network(MonotonicScheduler.INSTANCE, Duration.ofMillis(1));
        }

        @Bean
        Leases leases(LeasedPools pools, FencingTokens tokens, Network network) {
            return new OddLeases(new EmbeddedLeases(pools, MonotonicScheduler.INSTANCE, tokens), network);
        }
    }

    private Network start(String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.add("--spring.main.sources=" + LeasesBehindNetwork.class.getName());
        LeasingTenant.start(
                gateway, TestPolicy.onePool("http://127.0.0.1:9", "permits: 2"), all.toArray(String[]::new));
        return gateway.context().getBean(Network.class);
    }

    private static void assertLost(Answer answer) {
        LeaseApiTest.assertProblem(answer, 503, "backend-lost");
        assertThat(answer.field("Retry-After")).isEqualTo("1");
    }

    @Test
    void leases_are_granted_wait_and_are_released() {
        start();
        Answer all = tenant.acquire("all", "pool", "{\"permits\":2}");
        assertThat(all.status()).as(all.body()).isEqualTo(201);
        CompletableFuture<Answer> waiting = tenant.acquiring("waits", "pool", "{\"maxWait\":\"30s\"}");
        gateway.awaitWaiting("pool", 1);
        assertThat(tenant.release(all.json("id")).status()).isEqualTo(204);
        Answer held = waiting.join();
        assertThat(held.status()).as(held.body()).isEqualTo(201);
        assertThat(tenant.release(held.json("id")).status()).isEqualTo(204);
    }

    @Test
    void while_the_leases_are_lost_calls_are_refused_and_afterwards_each_may_be_repeated() {
        Network network = start();
        Answer held = tenant.acquire("held", "pool", "{\"ttl\":\"5m\"}");
        Answer all = tenant.acquire("all", "pool", "{\"ttl\":\"5m\"}");
        CompletableFuture<Answer> waiting = tenant.acquiring("waits", "pool", "{\"maxWait\":\"30s\"}");
        gateway.awaitWaiting("pool", 1);
        network.lose();
        assertLost(waiting.join());
        assertLost(tenant.acquire("new", "pool", "{}"));
        assertLost(tenant.get(held.json("id")));
        assertLost(tenant.extend(held.json("id"), "20s"));
        assertLost(tenant.release(held.json("id")));
        assertThat(gateway.pool("pool").inFlight()).isEqualTo(2);

        network.regain();
        assertThat(tenant.extend(held.json("id"), "20s").status()).isEqualTo(200);
        CompletableFuture<Answer> repeated = tenant.acquiring("waits", "pool", "{\"maxWait\":\"30s\"}");
        assertThat(tenant.release(held.json("id")).status()).isEqualTo(204);
        assertThat(repeated.join().status()).isEqualTo(201);
        assertThat(tenant.release(repeated.join().json("id")).status()).isEqualTo(204);
        Answer anew = tenant.acquire("new", "pool", "{}");
        assertThat(anew.status()).as(anew.body()).isEqualTo(201);
        tenant.release(anew.json("id"));
        tenant.release(all.json("id"));
    }

    @Test
    void a_peer_of_throttle_is_refused_while_the_leases_are_lost() {
        Network network = start("--fairgate.leases.throttle.enabled=true");
        network.lose();
        Answer answer =
                tenant.future("POST", "/new_peer", "{\"expires_in\":\"1m\"}").join();
        assertThat(answer.status()).isEqualTo(503);
        network.regain();
        assertThat(tenant.future("POST", "/new_peer", "{\"expires_in\":\"1m\"}")
                        .join()
                        .status())
                .isEqualTo(200);
    }

    @Test
    void a_gateway_that_has_lost_its_leases_shuts_down_in_the_time_that_it_may_take() {
        Network network = start("--fairgate.drain-time=400ms", "--spring.lifecycle.timeout-per-shutdown-phase=1s");
        Answer held = tenant.acquire("held", "pool", "{\"ttl\":\"5m\"}");
        assertThat(held.status()).isEqualTo(201);
        network.lose();
        CompletableFuture<Void> closed = CompletableFuture.runAsync(gateway::close);
        assertThat(closed).succeedsWithin(Duration.ofSeconds(20));
    }
}

package io.fairgate.spring.quota;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.HeldPermits;
import io.fairgate.permit.PermitPool;
import io.fairgate.permit.PermitRequest;
import io.fairgate.quota.QuotaCharge;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import io.fairgate.quota.Quotas;
import io.fairgate.quota.embedded.EmbeddedQuotas;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.testkit.NothingLeft;
import io.fairgate.time.MonotonicScheduler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/** Quotas are used in one step for a request that does not wait, and in two for a request that waits. */
class QuotaStepsTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.sendString(Mono.just("ok")))
            .bindNow();
    private @Nullable ConfigurableApplicationContext context;

    /** Records its calls. */
    static final class NotedQuotas implements Quotas {
        private final Quotas quotas = new EmbeddedQuotas(MonotonicScheduler.INSTANCE, InstantSource.system());
        final List<String> asked = new CopyOnWriteArrayList<>();

        @Override
        public Mono<QuotaDecision> check(QuotaSet set, long units) {
            return quotas.check(set, units).doOnSubscribe(s -> asked.add("check"));
        }

        @Override
        public QuotaCharge newCharge(QuotaSet set, long units) {
            return new NotedCharge(quotas.newCharge(set, units), asked);
        }

        @Override
        public Mono<List<QuotaDecision.Balance>> balances(QuotaSet set) {
            return quotas.balances(set);
        }
    }

    /** Records that it is charged. */
    record NotedCharge(QuotaCharge of, List<String> asked) implements QuotaCharge {
        @Override
        public QuotaSet quotas() {
            return of.quotas();
        }

        @Override
        public long units() {
            return of.units();
        }

        @Override
        public boolean isCharged() {
            return of.isCharged();
        }

        @Override
        public Mono<QuotaDecision> charge() {
            return of.charge().doOnSubscribe(s -> asked.add("charge"));
        }

        @Override
        public Mono<Void> settle(long actual) {
            return of.settle(actual);
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class CustomGateway {
        @Bean
        NotedQuotas notedQuotas() {
            return new NotedQuotas();
        }
    }

    @BeforeEach
    void start() {
        SpringApplication application = new SpringApplication(CustomGateway.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        List<String> arguments = new ArrayList<>();
        List.of(
                        "fairgate.policy.enabled=true",
                        "fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                        "fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                        "fairgate.policy.tenants.plans.metered.quotas[0].name=hourly",
                        "fairgate.policy.tenants.plans.metered.quotas[0].limit=2",
                        "fairgate.policy.tenants.plans.metered.quotas[0].per=1h",
                        "fairgate.policy.tenants.members.initech.plan=metered",
                        "fairgate.policy.tenants.members.globex.plan=metered",
                        "fairgate.policy.pools.orders.permits=1",
                        "fairgate.policy.pools.orders.max-wait=60s",
                        "spring.cloud.gateway.server.webflux.routes[0].id=orders",
                        "spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                        "spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/orders/**",
                        "spring.cloud.gateway.server.webflux.routes[0].filters[0]=FairShare=orders",
                        "spring.cloud.gateway.server.webflux.routes[1].id=free",
                        "spring.cloud.gateway.server.webflux.routes[1].uri=http://127.0.0.1:" + upstream.port(),
                        "spring.cloud.gateway.server.webflux.routes[1].predicates[0]=Path=/free/**",
                        "server.address=127.0.0.1",
                        "server.port=0")
                .forEach(property -> arguments.add("--" + property));
        context = application.run(arguments.toArray(String[]::new));
    }

    @AfterEach
    void stop() {
        gateway().close();
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private ConfigurableApplicationContext gateway() {
        return Objects.requireNonNull(context);
    }

    private List<String> asked() {
        return gateway().getBean(NotedQuotas.class).asked;
    }

    private PermitPool pool() {
        return Objects.requireNonNull(gateway().getBean(PermitPools.class).get("orders"));
    }

    private CompletableFuture<HttpResponse<String>> ask(String path, String tenant) {
        String port = gateway().getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant-Id", tenant)
                .build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString());
    }

    private int status(String path, String tenant) {
        return ask(path, tenant).join().statusCode();
    }

    @Test
    void a_request_that_does_not_wait_is_charged_without_a_check() {
        assertThat(status("/orders/x", "initech")).isEqualTo(200);
        assertThat(asked()).containsExactly("charge");
    }

    @Test
    void a_request_without_a_pool_is_charged_without_a_check() {
        assertThat(status("/free/x", "initech")).isEqualTo(200);
        assertThat(status("/free/x", "initech")).isEqualTo(200);
        assertThat(status("/free/x", "initech")).isEqualTo(429);
        assertThat(asked()).containsExactly("charge", "charge", "charge");
    }

    @Test
    void a_request_that_waits_is_checked_before_and_charged_after() {
        HeldPermits held = Objects.requireNonNull(pool().tryAcquire(PermitRequest.of("somebody")));
        CompletableFuture<HttpResponse<String>> waiting = ask("/orders/x", "initech");
        Awaitility.await()
                .until(() -> NothingLeft.statusOf(pool()).tenants().stream().anyMatch(tenant -> tenant.waiting() == 1));
        assertThat(asked()).containsExactly("check");
        held.release();

        assertThat(waiting.join().statusCode()).isEqualTo(200);
        assertThat(asked()).containsExactly("check", "charge");
    }

    @Test
    void a_tenant_beyond_its_quota_takes_no_place_in_the_queue() {
        assertThat(status("/free/x", "initech")).isEqualTo(200);
        assertThat(status("/free/x", "initech")).isEqualTo(200);
        HeldPermits held = Objects.requireNonNull(pool().tryAcquire(PermitRequest.of("somebody")));
        asked().clear();
        assertThat(status("/orders/x", "initech")).isEqualTo(429);
        assertThat(asked()).containsExactly("check");
        held.release();
    }

    @Test
    void requests_beyond_the_quota_take_no_permits() {
        assertThat(status("/orders/x", "initech")).isEqualTo(200);
        assertThat(status("/orders/x", "initech")).isEqualTo(200);
        assertThat(status("/orders/x", "initech")).isEqualTo(429);
        asked().clear();
        assertThat(status("/orders/x", "initech")).isEqualTo(429);
        assertThat(status("/orders/x", "initech")).isEqualTo(429);
        assertThat(asked()).containsExactly("check", "check");
        assertThat(status("/orders/x", "globex")).as("another tenant").isEqualTo(200);
        assertThat(asked()).containsExactly("check", "check", "charge");
    }
}

package io.fairgate.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.permit.OnClientLeft;
import io.fairgate.policy.ApiKeyHash;
import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaRule;
import io.fairgate.policy.QuotaTerms;
import io.fairgate.quota.Quota;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.actuator.PoolsEndpoint;
import io.fairgate.spring.admission.Admission;
import io.fairgate.spring.fairshare.FairShareGatewayFilterFactory;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.refusal.RefusalHandler;
import io.fairgate.spring.settings.DurationSetting;
import io.fairgate.status.PoolStatus.TenantStatus;
import io.fairgate.tenant.TenantId;
import io.fairgate.testkit.NothingLeft;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;

/**
 * The starter in another application's Spring Cloud Gateway, with the policy in that gateway's own properties.
 */
class StarterTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private static final List<String> POLICY = List.of(
            "fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
            "fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
            "fairgate.policy.tenants.plans.gold.weight=3",
            "fairgate.policy.tenants.plans.free.weight=1",
            "fairgate.policy.tenants.plans.metered.quotas[0].name=hourly",
            "fairgate.policy.tenants.plans.metered.quotas[0].limit=2",
            "fairgate.policy.tenants.plans.metered.quotas[0].per=1h",
            "fairgate.policy.tenants.plans.metered.quotas[1].name=daily",
            "fairgate.policy.tenants.plans.metered.quotas[1].limit=10",
            "fairgate.policy.tenants.plans.metered.quotas[1].per=day",
            "fairgate.policy.tenants.members.acme.plan=gold",
            "fairgate.policy.tenants.members.globex.plan=free",
            "fairgate.policy.tenants.members.initech.plan=metered",
            "fairgate.policy.pools.orders.permits=4",
            "fairgate.policy.pools.orders.max-wait=20s");

    private final Sinks.Empty<Void> end = Sinks.empty();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> request.uri().endsWith("/held")
                    ? response.sendString(end.asMono().thenReturn("ok"))
                    : response.sendString(Mono.just("ok")))
            .bindNow();

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    /** The application: routes by the Java DSL if there is a policy, and by properties. */
    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class CustomGateway {

        @Bean
        RouteLocator routes(
                RouteLocatorBuilder builder,
                ObjectProvider<FairShareGatewayFilterFactory> fairShare,
                @org.springframework.beans.factory.annotation.Value("${upstream}") String upstream) {
            RouteLocatorBuilder.Builder routes = builder.routes()
                    .route("plain", route -> route.path("/plain/**").uri(upstream));
            fairShare.ifAvailable(share -> routes.route(
                    "dsl",
                    route -> route.path("/dsl/**")
                            .filters(filters -> filters.filter(share.apply(c -> c.setPool("orders"))))
                            .uri(upstream)));
            return routes.build();
        }
    }

    /** A page of the application itself, without an upstream. */
    @Configuration(proxyBeanMethods = false)
    static class OwnPage {
        @Bean
        RouterFunction<ServerResponse> own() {
            return RouterFunctions.route()
                    .GET("/own", request -> Mono.error(new IOException("the disk is full")))
                    .build();
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithoutRoutes {}

    private ConfigurableApplicationContext start(List<String> policy, String... more) {
        return start(new SpringApplication(CustomGateway.class, OwnPage.class), policy, more);
    }

    private ConfigurableApplicationContext start(SpringApplication application, List<String> policy, String... more) {
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        List<String> arguments = new ArrayList<>();
        policy.forEach(property -> arguments.add("--" + property));
        List.of(more).forEach(property -> arguments.add("--" + property));
        arguments.addAll(List.of(
                "--server.address=127.0.0.1", "--server.port=0", "--upstream=http://127.0.0.1:" + upstream.port()));
        ConfigurableApplicationContext context = application.run(arguments.toArray(String[]::new));
        contexts.add(context);
        return context;
    }

    @AfterEach
    void stop() {
        end.tryEmitEmpty();
        contexts.forEach(ConfigurableApplicationContext::close);
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private CompletableFuture<HttpResponse<String>> ask(
            ConfigurableApplicationContext gateway, String path, String tenant) {
        String port = gateway.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("X-Tenant-Id", tenant)
                .build();
        return CLIENT.sendAsync(request, BodyHandlers.ofString());
    }

    private static List<TenantStatus> tenants(ConfigurableApplicationContext gateway) {
        return NothingLeft.statusOf(Objects.requireNonNull(
                        gateway.getBean(PermitPools.class).get("orders")))
                .tenants();
    }

    @Test
    void an_application_whose_gateway_is_switched_off_starts() {
        ConfigurableApplicationContext context = start(
                new SpringApplication(WithoutRoutes.class),
                POLICY,
                "fairgate.policy.enabled=true",
                "spring.cloud.gateway.server.webflux.enabled=false");
        assertThat(context.getBean(PermitPools.class).get("orders")).isNotNull();
    }

    @Test
    void routes_of_the_java_dsl_and_of_properties_share_the_pool_by_weight() {
        ConfigurableApplicationContext gateway = start(
                POLICY,
                "fairgate.policy.enabled=true",
                "spring.cloud.gateway.server.webflux.routes[0].id=short",
                "spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/short/**",
                "spring.cloud.gateway.server.webflux.routes[0].filters[0]=FairShare=orders",
                "spring.cloud.gateway.server.webflux.routes[1].id=long",
                "spring.cloud.gateway.server.webflux.routes[1].uri=http://127.0.0.1:" + upstream.port(),
                "spring.cloud.gateway.server.webflux.routes[1].predicates[0]=Path=/long/**",
                "spring.cloud.gateway.server.webflux.routes[1].filters[0].name=FairShare",
                "spring.cloud.gateway.server.webflux.routes[1].filters[0].args.pool=orders",
                "spring.cloud.gateway.server.webflux.routes[1].filters[0].args.permits=2");
        for (String path : List.of("/dsl/x", "/short/x", "/long/x")) {
            HttpResponse<String> answer = ask(gateway, path, "acme").join();
            assertThat(answer.statusCode()).as(path).isEqualTo(200);
            assertThat(answer.headers().firstValue("Server-Timing")).as(path).isPresent();
        }

        List<CompletableFuture<HttpResponse<String>>> requests = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            requests.add(ask(gateway, "/short/held", "acme"));
            requests.add(ask(gateway, "/dsl/held", "globex"));
        }
        Awaitility.await().untilAsserted(() -> {
            List<TenantStatus> tenants = tenants(gateway);
            assertThat(tenants.stream().mapToInt(TenantStatus::waiting).sum()).isEqualTo(8);
            assertThat(tenants)
                    .extracting(tenant -> tenant.tenant() + " " + tenant.share())
                    .contains("acme 3.0", "globex 1.0");
        });
        end.tryEmitEmpty();
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.join().statusCode()).isEqualTo(200));

        CompletableFuture<HttpResponse<String>> two = ask(gateway, "/long/x", "globex");
        assertThat(two.join().statusCode()).isEqualTo(200);
        Awaitility.await()
                .untilAsserted(() -> assertThat(tenants(gateway))
                        .allSatisfy(tenant -> assertThat(tenant.inFlight()).isZero()));

        // Identity and quotas hold on every route.
        assertThat(ask(gateway, "/plain/x", "nobody").join().statusCode()).isEqualTo(403);
        HttpResponse<String> first = ask(gateway, "/plain/x", "initech").join();
        assertThat(first.headers().firstValue("RateLimit-Policy"))
                .contains("\"hourly\";q=2;w=3600, \"daily\";q=10;w=86400");
        assertThat(ask(gateway, "/dsl/x", "initech").join().statusCode()).isEqualTo(200);
        assertThat(ask(gateway, "/plain/x", "initech").join().statusCode()).isEqualTo(429);
    }

    @Test
    void properties_name_every_kind_of_quota_of_tenants_and_groups() {
        ConfigurableApplicationContext gateway = start(
                POLICY,
                "fairgate.policy.enabled=true",
                "fairgate.policy.rate-limit-headers=legacy",
                "fairgate.policy.tenants.groups.corp.quotas[0].name=prepaid",
                "fairgate.policy.tenants.groups.corp.quotas[0].limit=7",
                "fairgate.policy.tenants.groups.corp.quotas[0].per=total",
                "fairgate.policy.tenants.members.initech.parent=corp",
                "fairgate.policy.tenants.members.initech.quotas[0].name=sliding",
                "fairgate.policy.tenants.members.initech.quotas[0].limit=5",
                "fairgate.policy.tenants.members.initech.quotas[0].within=90s",
                "fairgate.policy.tenants.members.initech.quotas[0].routes=dsl",
                "fairgate.policy.tenants.members.initech.quotas[0].enforce=false",
                "fairgate.policy.tenants.members.initech.quotas[1].name=weekly",
                "fairgate.policy.tenants.members.initech.quotas[1].limit=6",
                "fairgate.policy.tenants.members.initech.quotas[1].per=week");
        Policy policy = gateway.getBean(Policy.class);
        assertThat(policy.quotaTerms())
                .isEqualTo(new QuotaTerms(
                        Map.of("corp", List.of(QuotaRule.of(new Quota.Total("prepaid", 7)))),
                        QuotaTerms.HeaderStyle.LEGACY));
        assertThat(Objects.requireNonNull(policy.tenant(TenantId.of("initech"))).quotas())
                .containsExactly(
                        new QuotaRule(new Quota.Sliding("sliding", 5, Duration.ofSeconds(90)), Set.of("dsl"), false),
                        QuotaRule.of(new Quota.Calendar("weekly", 6, Quota.CalendarUnit.WEEK, ZoneOffset.UTC)));
        assertThat(ask(gateway, "/dsl/x", "initech").join().headers().firstValue("X-RateLimit-Remaining"))
                .contains("5");
    }

    @Test
    void groups_share_the_pool_and_a_class_is_capped_within_its_tenant() {
        ConfigurableApplicationContext gateway = start(
                POLICY,
                "fairgate.policy.enabled=true",
                "fairgate.policy.tenants.groups.corp.max-in-flight=3",
                "fairgate.policy.tenants.groups.labs.parent=corp",
                "fairgate.policy.tenants.members.acme.parent=labs",
                "fairgate.policy.tenants.classes.batch.max-in-flight=1",
                "spring.cloud.gateway.server.webflux.routes[0].id=batch",
                "spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/batch/**",
                "spring.cloud.gateway.server.webflux.routes[0].filters[0].name=FairShare",
                "spring.cloud.gateway.server.webflux.routes[0].filters[0].args.pool=orders",
                "spring.cloud.gateway.server.webflux.routes[0].filters[0].args.class=batch");
        List<CompletableFuture<HttpResponse<String>>> requests = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            requests.add(ask(gateway, "/batch/held", "acme"));
        }
        for (int i = 0; i < 3; i++) {
            requests.add(ask(gateway, "/dsl/held", "acme"));
        }

        PoolsEndpoint endpoint = gateway.getBean(PoolsEndpoint.class);
        Awaitility.await().untilAsserted(() -> {
            Map<String, Object> pool = Objects.requireNonNull(
                    Objects.requireNonNull(endpoint.pools().block()).get("orders"));
            assertThat(pool)
                    .extractingByKey("groups", InstanceOfAssertFactories.list(Map.class))
                    .extracting(group -> group.get("group") + " " + group.get("parent") + " " + group.get("inFlight")
                            + " " + group.get("waiting"))
                    .containsExactlyInAnyOrder("corp null 3 2", "labs corp 3 2");
            assertThat(String.valueOf(pool)).contains("parent=null");
            assertThat(pool)
                    .extractingByKey("tenants", InstanceOfAssertFactories.list(Map.class))
                    .extracting(
                            tenant -> tenant.get("tenant") + " " + tenant.get("parent") + " " + tenant.get("inFlight"))
                    .containsExactly("acme labs 3");
        });
        end.tryEmitEmpty();
        assertThat(requests)
                .allSatisfy(request -> assertThat(request.join().statusCode()).isEqualTo(200));
        assertThatThrownBy(() -> gateway.getBean(FairShareGatewayFilterFactory.class)
                        .apply(c -> c.setPool("orders").setClass("bach")))
                .hasMessage("FairShare: class: bach (expected: one of [batch])");
    }

    @Test
    void keys_and_routes_of_tenants_work_as_in_the_policy_file() throws Exception {
        ConfigurableApplicationContext gateway = start(
                POLICY,
                "fairgate.policy.enabled=true",
                "fairgate.policy.tenants.identify[1].api-key.header=X-Api-Key",
                "fairgate.policy.tenants.identify[2].client-certificate.name=san-uri",
                "fairgate.policy.tenants.identify[3].jwt.issuer=https://login.test/",
                "fairgate.policy.tenants.identify[3].jwt.audience=fairgate",
                "fairgate.policy.tenants.identify[3].jwt.jwks=keys.json",
                "fairgate.policy.tenants.forward-as=X-Account",
                "fairgate.policy.tenants.members.acme.api-keys[0]="
                        + ApiKeyHash.of("a-key-of-acme-0123456789").text(),
                "fairgate.policy.tenants.members.acme.certificates[0]=spiffe://test/acme",
                "spring.cloud.gateway.server.webflux.routes[0].id=acme",
                "spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/acme/**",
                "spring.cloud.gateway.server.webflux.routes[0].predicates[1]=Tenant=acme");
        String port = gateway.getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/acme/x"));
        assertThat(CLIENT.send(
                                request.copy()
                                        .header("X-Api-Key", "a-key-of-acme-0123456789")
                                        .build(),
                                BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(200);
        assertThat(ask(gateway, "/acme/x", "globex").join().statusCode()).isEqualTo(404);
        HttpResponse<String> unidentified = CLIENT.send(request.build(), BodyHandlers.ofString());
        assertThat(unidentified.statusCode()).isEqualTo(401);
        assertThat(unidentified.headers().allValues("WWW-Authenticate"))
                .containsExactly("Fairgate header=\"X-Api-Key\"", "Bearer realm=\"fairgate\"");
        Policy policy = gateway.getBean(Policy.class);
        assertThat(policy.identification().forwardAs()).isEqualTo("X-Account");
        assertThat(policy.identification().certificates())
                .containsExactly(Map.entry("spiffe://test/acme", TenantId.of("acme")));
    }

    @Test
    void without_a_policy_nothing_is_added() {
        ConfigurableApplicationContext gateway = start(List.of());
        assertThat(gateway.getBeanNamesForType(Policy.class)).isEmpty();
        assertThat(gateway.getBeanNamesForType(Admission.class)).isEmpty();
        assertThat(gateway.getBeanNamesForType(RefusalHandler.class)).isEmpty();
        assertThat(gateway.getBeanNamesForType(PoolsEndpoint.class)).isEmpty();
        assertThat(ask(gateway, "/plain/x", "nobody").join().statusCode()).isEqualTo(200);
    }

    @Test
    void a_policy_in_properties_is_used_only_if_enabled() {
        ConfigurableApplicationContext gateway = start(POLICY);
        assertThat(gateway.getBeanNamesForType(Policy.class)).isEmpty();
        assertThat(ask(gateway, "/plain/x", "nobody").join().statusCode()).isEqualTo(200);
    }

    @Test
    void an_error_outside_of_routes_is_left_to_the_application() {
        ConfigurableApplicationContext gateway = start(POLICY, "fairgate.policy.enabled=true");
        assertThat(ask(gateway, "/own", "acme").join().statusCode()).isEqualTo(500);
    }

    @Test
    void invalid_arguments_are_refused_when_the_route_is_built() {
        FairShareGatewayFilterFactory fairShare =
                start(POLICY, "fairgate.policy.enabled=true").getBean(FairShareGatewayFilterFactory.class);
        assertThatThrownBy(() -> fairShare.apply(c -> c.setPool("order")))
                .hasMessage("FairShare: pool: order (expected: one of [orders])");
        for (int permits : new int[] {0, 5}) {
            assertThatThrownBy(() -> fairShare.apply(c -> c.setPool("orders").setPermits(permits)))
                    .hasMessage(
                            "FairShare: permits: %d (expected: 1 to 4, the size of pool orders)".formatted(permits));
        }
        assertThatThrownBy(() -> fairShare.apply(c -> c.setPool("orders").setMaxHold(Duration.ZERO)))
                .hasMessage("FairShare: max-hold: PT0S (expected: more than 0)");
    }

    private static FairShareGatewayFilterFactory.Config arguments(
            ConfigurableApplicationContext gateway, Map<String, String> args) {
        return gateway.getBean(ConfigurationService.class)
                .with(gateway.getBean(FairShareGatewayFilterFactory.class))
                .name("FairShare")
                .properties(args)
                .bind();
    }

    @Test
    void the_long_form_and_the_dsl_accept_on_client_left() {
        ConfigurableApplicationContext gateway = start(POLICY, "fairgate.policy.enabled=true");
        for (String spelling : List.of("on-client-left", "onClientLeft")) {
            assertThat(arguments(gateway, Map.of("pool", "orders", spelling, "close"))
                            .getOnClientLeft())
                    .isEqualTo(OnClientLeft.CLOSE);
        }
        assertThat(arguments(gateway, Map.of("pool", "orders")).getOnClientLeft())
                .as("as the pool says")
                .isNull();
        assertThatThrownBy(() -> arguments(gateway, Map.of("pool", "orders", "on-client-left", "abort")))
                .hasStackTraceContaining("abort");
        assertThatCode(() -> gateway.getBean(FairShareGatewayFilterFactory.class)
                        .apply(c -> c.setPool("orders").setOnClientLeft(OnClientLeft.CLOSE)))
                .doesNotThrowAnyException();
    }

    @Test
    void max_hold_needs_a_unit_in_both_forms_of_the_filter() {
        ConfigurableApplicationContext gateway = start(POLICY, "fairgate.policy.enabled=true");
        for (Map<String, String> form : List.of(
                Map.of("pool", "orders", "max-hold", "HOLD"),
                Map.of("pool", "orders", "maxHold", "HOLD"),
                Map.of("_genkey_0", "orders", "_genkey_1", "1", "_genkey_2", "HOLD"))) {
            Function<String, Map<String, String>> args = hold -> form.entrySet().stream()
                    .collect(Collectors.toMap(
                            Map.Entry::getKey, entry -> entry.getValue().replace("HOLD", hold)));
            for (String minute : List.of("60s", "1m", "60000ms", "PT1M")) {
                assertThat(arguments(gateway, args.apply(minute)).getMaxHold())
                        .isEqualTo(new DurationSetting(Duration.ofMinutes(1)));
            }
            for (String guess : List.of("60", "0.5", "60000")) {
                assertThatThrownBy(() -> arguments(gateway, args.apply(guess)))
                        .hasStackTraceContaining("max-hold")
                        .rootCause()
                        .hasMessage(guess + " (expected: a duration such as 250ms, 1s, 5m, 2h or 1d)");
            }
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            members.hooli.plan=silver          | fairgate.policy.tenants.members.hooli.plan: unknown plan "silver" (expected: one of
            members._unknown.plan=gold         | fairgate.policy.tenants.members._unknown: not a name (expected: 1 to 64 characters
            plans.gold.plan=free               | fairgate.policy.tenants.plans.gold.plan: unknown key (expected: one of weight
            plans.gold.weigth=2                | fairgate.policy.tenants.plans.gold.weigth: unknown key (expected: one of weight
            plans.metered.quotas[0].zone=UTC   | plans.metered.quotas[0].zone: UTC (expected: no zone
            plans.metered.quotas[1].burst=5    | plans.metered.quotas[1].burst: 5 (expected: no burst
            members.acme.parent=corp           | members.acme.parent: unknown group "corp" (expected: no group, because the policy defines none
            classes.batch.reserved=1           | classes.batch.reserved: unknown key (expected: one of weight
            plans.gold.api-keys[0]=x           | plans.gold.api-keys: unknown key (expected: one of weight
            members.acme.api-keys[0]=fg_secret | members.acme.api-keys: not used (expected: api-key in
            identify[0].api-key.header=X-Key   | identify[0].api-key: beside header (expected: one way
            forward-as=Host                    | forward-as: Host (expected: a header that HTTP itself does not need
            identify[1].trusted-from=::1/128   | identify[1].header: missing (expected: one of header
            """)
    void an_invalid_policy_stops_the_start_with_its_mistake(String property, String message) {
        assertThatThrownBy(() -> start(POLICY, "fairgate.policy.enabled=true", "fairgate.policy.tenants." + property))
                .rootCause()
                .hasMessageContaining(message);
    }
}

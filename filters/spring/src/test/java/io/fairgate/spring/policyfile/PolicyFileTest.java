package io.fairgate.spring.policyfile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.permit.PermitPool;
import io.fairgate.policy.Policy;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.fairshare.FairShareGatewayFilterFactory;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.identity.TenantResolver;
import io.fairgate.spring.policyfile.PolicyReload.Result;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionLocator;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/** A policy from a file, in an application with routes of its own. */
class PolicyFileTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String ON = "--fairgate.policy.enabled=true";

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.sendString(Mono.just("ok")))
            .bindNow();

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();
    private final Path file;

    PolicyFileTest(@TempDir Path folder) {
        file = folder.resolve("policy.yml");
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {}

    /** A route in Java, which uses a pool of the file. */
    @Configuration(proxyBeanMethods = false)
    static class OwnRoute {
        @Bean
        RouteLocator routes(
                RouteLocatorBuilder builder,
                ObjectProvider<FairShareGatewayFilterFactory> fairShare,
                @Value("${upstream}") String upstream) {
            RouteLocatorBuilder.Builder routes = builder.routes();
            fairShare.ifAvailable(share -> routes.route(
                    "own",
                    route -> route.path("/own/**")
                            .filters(filters -> filters.filter(share.apply(c -> c.setPool("spare"))))
                            .uri(upstream)));
            return routes.build();
        }
    }

    private String policy(String member, String path) {
        return """
                tenants:
                  identify: [ { header: X-Tenant-Id, trusted-from: [127.0.0.0/8] } ]
                  plans: { plan: {} }
                  members: { %s: { plan: plan } }
                pools:
                  pool: { permits: 2 }
                  spare: { permits: 3 }
                routes:
                  - id: it
                    uri: http://127.0.0.1:%d
                    predicates: [ Path=/%s/** ]
                    filters: [ FairShare=pool ]
                """.formatted(member, upstream.port(), path);
    }

    /** Moved into place, so that no half of it is read. */
    private void write(String policy) {
        try {
            Path next = Files.writeString(file.resolveSibling("next.yml"), policy);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private ConfigurableApplicationContext start(Class<?> beans, String... more) {
        SpringApplication application = new SpringApplication(Empty.class, beans);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1", "--server.port=0", "--upstream=http://127.0.0.1:" + upstream.port()));
        arguments.addAll(List.of(more));
        for (String usual : List.of("--fairgate.policy.file=" + file, "--fairgate.watch-policy=20ms")) {
            String name = usual.substring(0, usual.indexOf('=') + 1);
            if (arguments.stream().noneMatch(given -> given.startsWith(name))) {
                arguments.add(usual);
            }
        }
        ConfigurableApplicationContext context = application.run(arguments.toArray(String[]::new));
        contexts.add(context);
        return context;
    }

    @AfterEach
    void stop() {
        contexts.forEach(ConfigurableApplicationContext::close);
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private static int status(ConfigurableApplicationContext gateway, String path, String tenant) {
        URI uri = URI.create("http://127.0.0.1:" + gateway.getEnvironment().getProperty("local.server.port") + path);
        HttpRequest request =
                HttpRequest.newBuilder(uri).header("X-Tenant-Id", tenant).build();
        return CLIENT.sendAsync(request, BodyHandlers.discarding()).join().statusCode();
    }

    private static PolicyReload.Report awaitResult(ConfigurableApplicationContext gateway, Result result) {
        PolicyReload reload = gateway.getBean(PolicyReload.class);
        Awaitility.await().until(() -> reload.latest().result() == result);
        return reload.latest();
    }

    @Test
    void the_routes_tenants_and_pools_of_the_file_change_with_it_beside_the_routes_of_the_application() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(OwnRoute.class);
        assertThat(status(gateway, "/first/x", "acme")).isEqualTo(200);
        assertThat(status(gateway, "/own/x", "acme")).isEqualTo(200);
        assertThat(status(gateway, "/own/x", "globex")).isEqualTo(403);
        assertThat(gateway.getBean(PolicyReload.class).latest().warnings())
                .as("the application uses the pool of no route")
                .isEmpty();

        write(policy("globex", "second").replace("permits: 3", "permits: 7"));
        PermitPool spare =
                Objects.requireNonNull(gateway.getBean(PermitPools.class).get("spare"));
        Awaitility.await().until(() -> spare.settings().permits() == 7);
        Awaitility.await().until(() -> status(gateway, "/second/x", "globex") == 200);
        assertThat(status(gateway, "/first/x", "globex")).isEqualTo(404);
        assertThat(status(gateway, "/own/x", "globex")).isEqualTo(200);
        assertThat(status(gateway, "/own/x", "acme")).isEqualTo(403);
    }

    @Test
    void a_file_with_mistakes_is_refused_while_the_application_runs_and_its_health_says_so() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(OwnRoute.class);
        write(policy("acme", "first").replace("FairShare=pool", "FairShare=pol"));
        PolicyReload.Report report = awaitResult(gateway, Result.REFUSED);
        assertThat(report.mistakes())
                .extracting(Object::toString)
                .singleElement()
                .asString()
                .startsWith(file + ":12: routes[0].filters[0].pool: unknown pool \"pol\"");
        assertThat(status(gateway, "/first/x", "acme")).isEqualTo(200);
        Health health = gateway.getBean(PolicyHealth.class).health();
        assertThat(health.getStatus().getCode()).isEqualTo("UP");
        assertThat(health.getDetails()).containsEntry("result", Result.REFUSED).containsKey("mistakes");

        write(policy("acme", "first") + "# the same");
        awaitResult(gateway, Result.UNCHANGED);
    }

    @Test
    void an_application_whose_file_has_mistakes_does_not_start() {
        write(policy("acme", "first").replace("permits: 2", "permits: 0").replace("{ plan: plan }", "{ plan: plam }"));
        assertThatThrownBy(() -> start(OwnRoute.class))
                .rootCause()
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessageContaining(file + ":4: tenants.members.acme.plan: unknown plan \"plam\"")
                .hasMessageContaining(file + ":6: pools.pool.permits: 0 (expected: ");
    }

    @Test
    void an_application_without_the_file_does_not_start() {
        assertThatThrownBy(() -> start(OwnRoute.class))
                .rootCause()
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessageContaining(file + ":1: file: no such file (expected: ");
    }

    @Test
    void a_policy_is_in_a_file_or_in_properties() {
        write(policy("acme", "first"));
        assertThatThrownBy(() -> start(OwnRoute.class, ON, "--fairgate.policy.pools.pool.permits=4"))
                .rootCause()
                .hasMessage("fairgate.policy.pools: beside fairgate.policy.file"
                        + " (expected: a policy in the file, or in properties)");
    }

    @Test
    void a_pool_that_a_route_in_java_uses_cannot_be_removed() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(OwnRoute.class);
        write(policy("acme", "second").replace("  spare: { permits: 3 }\n", ""));
        assertThat(awaitResult(gateway, Result.REFUSED).mistakes())
                .extracting(Object::toString)
                .containsExactly(file + ":1: pools.spare: missing (expected: this pool, which the route own of the"
                        + " application uses)");
        assertThat(status(gateway, "/own/x", "acme")).isEqualTo(200);
        assertThat(status(gateway, "/first/x", "acme")).isEqualTo(200);
    }

    /** Routes that come later than those of the file, as from a service that is asked for them. */
    @Configuration(proxyBeanMethods = false)
    static class LateRoutes {
        @Bean
        RouteDefinitionLocator late(@Value("${upstream}") String upstream) {
            RouteDefinition late = new RouteDefinition("late=" + upstream + ",Path=/late/**");
            late.setFilters(List.of(new FilterDefinition("FairShare=spare")));
            return () -> Flux.just(late).delayElements(Duration.ofMillis(300));
        }
    }

    @Test
    void a_reload_waits_for_routes_that_come_later() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(LateRoutes.class, "--fairgate.watch-policy=0s");
        PolicyReload reload = gateway.getBean(PolicyReload.class);
        Awaitility.await().until(() -> status(gateway, "/late/x", "acme") == 200);
        write(policy("acme", "second"));
        assertThat(reload.reload().result()).isEqualTo(Result.CHANGED);
        assertThat(status(gateway, "/second/x", "acme")).isEqualTo(200);

        write(policy("acme", "third").replace("  spare: { permits: 3 }\n", ""));
        PolicyReload.Report report = reload.reload();
        assertThat(report.result()).isEqualTo(Result.REFUSED);
        assertThat(report.mistakes()).singleElement().asString().contains("spare");
        assertThat(status(gateway, "/second/x", "acme")).isEqualTo(200);
        assertThat(status(gateway, "/late/x", "acme")).isEqualTo(200);
    }

    /** Fails once, when the routes are built anew. */
    @Configuration(proxyBeanMethods = false)
    static class FailingListener {
        private final AtomicBoolean fails = new AtomicBoolean();

        @Bean
        AtomicBoolean fails() {
            return fails;
        }

        @Bean
        ApplicationListener<RefreshRoutesEvent> listener() {
            return new FirstListener(fails);
        }
    }

    private record FirstListener(AtomicBoolean fails) implements ApplicationListener<RefreshRoutesEvent>, Ordered {
        @Override
        public void onApplicationEvent(RefreshRoutesEvent event) {
            if (fails.getAndSet(false)) {
                throw new IllegalStateException("not now");
            }
        }

        @Override
        public int getOrder() {
            return Ordered.HIGHEST_PRECEDENCE;
        }
    }

    @Test
    void a_listener_that_fails_refuses_the_policy_and_its_routes() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(FailingListener.class, "--fairgate.watch-policy=0s");
        gateway.getBean(AtomicBoolean.class).set(true);
        write(policy("acme", "second"));
        PolicyReload.Report report = gateway.getBean(PolicyReload.class).reload();
        assertThat(report.result()).isEqualTo(Result.REFUSED);
        assertThat(report.mistakes())
                .singleElement()
                .hasToString(
                        file + ":1: routes: not now (expected: routes that can be built, together with those of the"
                                + " application)");
        gateway.publishEvent(new RefreshRoutesEvent(this));
        assertThat(status(gateway, "/first/x", "acme")).isEqualTo(200);
        assertThat(status(gateway, "/second/x", "acme")).isEqualTo(404);
    }

    /** A bean that cannot be created when it is needed. */
    @Configuration(proxyBeanMethods = false)
    static class Broken {
        @Bean
        @Lazy
        TenantResolver accounts() {
            throw new IllegalStateException("the database\nis away");
        }
    }

    @Test
    void names_of_beans_that_do_not_exist_or_fail_are_mistakes_at_their_line() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext gateway = start(Broken.class, "--fairgate.watch-policy=0s");
        PolicyReload reload = gateway.getBean(PolicyReload.class);
        write(policy("acme", "first")
                .replace("[ {", "[ { bean: one }, { bean: two }, {")
                .replace("FairShare=", "FairShar="));
        assertThat(reload.reload().mistakes())
                .extracting(mistake -> mistake.line() + " " + mistake.key())
                .containsExactly("2 tenants.identify[0].bean", "2 tenants.identify[1].bean", "12 routes[0].filters[0]");
        write(policy("acme", "first").replace("[ {", "[ { bean: accounts }, {"));
        assertThat(reload.reload().mistakes())
                .singleElement()
                .hasToString(
                        file + ":2: tenants.identify[0].bean: the bean \"accounts\" cannot be created: the database is"
                                + " away (expected: a bean that can be created at any time)");
        assertThat(status(gateway, "/first/x", "acme")).isEqualTo(200);
    }

    @Configuration(proxyBeanMethods = false)
    static class PolicyInJava {
        @Bean
        Policy policy() {
            return new Policy(List.of(), Map.of(), null, Map.of());
        }
    }

    @Test
    void a_policy_in_java_comes_before_the_file() {
        ConfigurableApplicationContext gateway = start(PolicyInJava.class);
        assertThat(gateway.getBean(Policy.class).pools()).isEmpty();
        assertThat(gateway.getBeanNamesForType(PolicySource.class)).isEmpty();
        assertThat(gateway.containsBean("fairgateFileNotRead"))
                .as("a warning says so")
                .isTrue();
    }

    @Test
    void the_name_of_the_file_is_a_path_or_empty() {
        write(policy("acme", "first"));
        assertThat(start(OwnRoute.class, "--fairgate.policy.file=").getBeanNamesForType(Policy.class))
                .isEmpty();
        assertThatThrownBy(() -> start(OwnRoute.class, "--fairgate.policy.file=classpath:policy.yml"))
                .rootCause()
                .hasMessage("fairgate.policy.file: classpath:policy.yml (expected: a path in the file system, without a"
                        + " prefix)");
        ConfigurableApplicationContext besideService =
                start(OwnRoute.class, "--fairgate.policy.port=tcp://10.0.0.1:80");
        assertThat(status(besideService, "/first/x", "acme")).isEqualTo(200);
    }

    @Test
    void a_policy_that_is_switched_off_is_not_read() {
        ConfigurableApplicationContext gateway = start(OwnRoute.class, "--fairgate.policy.enabled=false");
        assertThat(gateway.getBeanNamesForType(Policy.class)).isEmpty();
        assertThat(gateway.getBeanNamesForType(PolicyReload.class)).isEmpty();
    }

    @Test
    void an_application_whose_gateway_is_switched_off_has_the_pools_of_the_file() {
        write(policy("acme", "first"));
        ConfigurableApplicationContext context =
                start(Empty.class, "--spring.cloud.gateway.server.webflux.enabled=false");
        assertThat(context.getBean(PermitPools.class).get("spare")).isNotNull();
    }
}

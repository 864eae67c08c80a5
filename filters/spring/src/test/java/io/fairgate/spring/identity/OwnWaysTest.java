package io.fairgate.spring.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.policy.IdentitySource;
import io.fairgate.policy.Policy;
import io.fairgate.spring.OwnLoop;
import io.fairgate.spring.identity.IdentityRefusedException.Reason;
import io.fairgate.spring.policy.PolicyHolder;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.reactive.EnableWebFluxSecurity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.core.userdetails.MapReactiveUserDetailsService;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.web.server.SecurityWebFilterChain;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.DisposableServer;

/** Beans of an application that identify tenants. */
class OwnWaysTest {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    /** The upstream tells the headers that the gateway has sent. */
    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.sendString(Mono.just("tenant=%s session=%s"
                    .formatted(
                            request.requestHeaders().get("X-Tenant-Id"),
                            request.requestHeaders().get("X-Session")))))
            .bindNow();

    /** Of the only route. */
    private String filter = "FairShare=pool";

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway {}

    /** Sessions of tenants, in a store that is asked on another thread. */
    @Configuration(proxyBeanMethods = false)
    static class Sessions {
        private static final Map<String, String> STORE =
                Map.of("1", "acme", "2", "globex", "3", "stranger", "4", "no id");

        @Bean
        TenantResolver sessions() {
            return exchange -> Mono.justOrEmpty(
                            exchange.getRequest().getHeaders().getFirst("X-Session"))
                    .publishOn(Schedulers.boundedElastic())
                    .map(session -> {
                        String tenant = STORE.get(session);
                        if (tenant == null) {
                            throw new IdentityRefusedException(Reason.INVALID_CREDENTIAL);
                        }
                        return tenant;
                    });
        }
    }

    /** Notes on which threads requests go on. */
    @Configuration(proxyBeanMethods = false)
    static class Threads {
        static final Queue<String> NAMES = new ConcurrentLinkedQueue<>();

        @Bean
        GlobalFilter threads() {
            return (exchange, chain) -> {
                NAMES.add(Thread.currentThread().getName());
                return chain.filter(exchange);
            };
        }
    }

    /** Users, some of whom have no tenant. */
    @Configuration(proxyBeanMethods = false)
    @EnableWebFluxSecurity
    static class Users {
        @Bean
        SecurityWebFilterChain security(ServerHttpSecurity http) {
            return http.httpBasic(Customizer.withDefaults())
                    .anonymous(Customizer.withDefaults())
                    .authorizeExchange(paths -> paths.anyExchange().permitAll())
                    .build();
        }

        @Bean
        @SuppressWarnings("deprecation") // for tests, as this is
        MapReactiveUserDetailsService users() {
            User.UserBuilder users = User.withDefaultPasswordEncoder().password("secret");
            UserDetails ofTenant = users.username("acme").roles("user").build();
            return new MapReactiveUserDetailsService(
                    ofTenant, users.username("anna").roles("globex").build());
        }

        /** The tenant is the first role. */
        @Bean
        TenantResolver role() {
            return new PrincipalTenantResolver(user -> user.getAuthorities().stream()
                    .map(role -> role.getAuthority().replace("ROLE_", ""))
                    .filter(role -> !role.equals("user"))
                    .findFirst()
                    .orElse(null));
        }
    }

    private ConfigurableApplicationContext start(Class<?> beans, String... ways) {
        return start(List.of(beans), ways);
    }

    private ConfigurableApplicationContext start(List<Class<?>> beans, String... ways) {
        SpringApplication application = new SpringApplication(Gateway.class);
        application.addPrimarySources(beans);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        List<String> arguments = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.plans.plan.weight=1",
                "--fairgate.policy.tenants.members.acme.plan=plan",
                "--fairgate.policy.tenants.members.globex.plan=plan",
                "--fairgate.policy.pools.pool.permits=4",
                "--spring.cloud.gateway.server.webflux.routes[0].id=all",
                "--spring.cloud.gateway.server.webflux.routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "--spring.cloud.gateway.server.webflux.routes[0].predicates[0]=Path=/**",
                "--spring.cloud.gateway.server.webflux.routes[0].filters[0]=" + filter));
        for (String way : ways) {
            arguments.add("--fairgate.policy.tenants.identify" + way);
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

    /** The status, and the body of the upstream or the reason of the refusal. */
    private static String ask(ConfigurableApplicationContext gateway, String... headers) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + gateway.getEnvironment().getProperty("local.server.port") + "/x");
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        if (headers.length > 0) {
            request.headers(headers);
        }
        var answer = CLIENT.send(request.build(), BodyHandlers.ofString());
        String body = answer.body();
        return answer.statusCode() + " " + (answer.statusCode() == 200 ? body : reason(body));
    }

    private static String reason(String problem) {
        return problem.replaceFirst("(?s).*\"reason\":\"([^\"]*)\".*", "$1");
    }

    private static String[] login(String user) {
        byte[] credentials = (user + ":secret").getBytes(StandardCharsets.UTF_8);
        return new String[] {"Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials)};
    }

    @Test
    void a_bean_names_the_tenant_and_refuses_invalid_credentials() throws Exception {
        ConfigurableApplicationContext gateway = start(Sessions.class, "[0].bean=sessions");
        assertThat(ask(gateway, "X-Session", "1")).isEqualTo("200 tenant=acme session=1");
        assertThat(ask(gateway, "X-Session", "2", "X-Tenant-Id", "acme")).isEqualTo("200 tenant=globex session=2");
        assertThat(ask(gateway, "X-Session", "3")).isEqualTo("403 unknown-tenant");
        assertThat(ask(gateway, "X-Session", "4")).isEqualTo("400 malformed");
        assertThat(ask(gateway, "X-Session", "5")).isEqualTo("401 invalid-credential");
        assertThat(ask(gateway)).isEqualTo("401 missing");
    }

    @Test
    void a_request_goes_on_on_its_event_loop_and_not_on_the_thread_of_the_bean() throws Exception {
        Threads.NAMES.clear();
        filter = "StripPrefix=0"; // A permit would be granted on the event loop.
        ConfigurableApplicationContext gateway = start(List.of(Sessions.class, Threads.class), "[0].bean=sessions");
        assertThat(ask(gateway, "X-Session", "1")).startsWith("200 ");
        assertThat(Threads.NAMES).hasSize(1).first().asString().startsWith("reactor-http-");
    }

    @Test
    void a_bean_and_another_way_must_name_the_same_tenant() throws Exception {
        ConfigurableApplicationContext gateway =
                start(Sessions.class, "[0].bean=sessions", "[1].header=X-Tenant-Id", "[1].trusted-from=127.0.0.0/8");
        assertThat(ask(gateway, "X-Session", "1", "X-Tenant-Id", "acme")).isEqualTo("200 tenant=acme session=1");
        assertThat(ask(gateway, "X-Session", "1", "X-Tenant-Id", "globex")).isEqualTo("403 contradiction");
        assertThat(ask(gateway, "X-Tenant-Id", "globex")).startsWith("200 tenant=globex ");
        assertThat(ask(gateway, "X-Session", "5", "X-Tenant-Id", "globex")).isEqualTo("401 invalid-credential");
    }

    @Test
    void users_of_spring_security_are_tenants_by_name_or_as_a_function_says() throws Exception {
        ConfigurableApplicationContext byName = start(Users.class, "[0].bean=principal");
        assertThat(ask(byName, login("acme"))).startsWith("200 tenant=acme ");
        assertThat(ask(byName, login("anna"))).isEqualTo("403 unknown-tenant");
        assertThat(ask(byName)).as("an anonymous user").isEqualTo("401 missing");

        ConfigurableApplicationContext byRole = start(Users.class, "[0].bean=role");
        assertThat(ask(byRole, login("anna"))).startsWith("200 tenant=globex ");
        assertThat(ask(byRole, login("acme"))).as("no such role").isEqualTo("401 invalid-credential");
    }

    @Test
    void without_security_a_principal_is_missing() throws Exception {
        assertThat(ask(start(Sessions.class, "[0].bean=principal"))).isEqualTo("401 missing");
    }

    @Test
    void an_application_without_the_bean_does_not_start() {
        assertThatThrownBy(() -> start(Sessions.class, "[0].bean=session"))
                .rootCause()
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessage("fairgate.policy.tenants.identify[0].bean: no bean \"session\" of type TenantResolver"
                        + " (expected: one of sessions, principal; did you mean sessions?)");
        assertThatThrownBy(() -> start(Sessions.class, "[0].bean=environment"))
                .rootCause()
                .hasMessageStartingWith(
                        "fairgate.policy.tenants.identify[0].bean: no bean \"environment\" of type TenantResolver ");
    }

    @Test
    void a_policy_with_an_unknown_bean_is_refused_and_the_one_before_stays() throws Exception {
        ConfigurableApplicationContext gateway = start(Sessions.class, "[0].bean=sessions");
        PolicyHolder holder = gateway.getBean(PolicyHolder.class);
        Policy now = holder.current();
        Policy unknown = new Policy(List.of(new IdentitySource.Bean("nothing")), now.members(), null, now.pools());
        assertThatThrownBy(() -> holder.replace(unknown))
                .hasMessageStartingWith("identify: no bean \"nothing\" of type TenantResolver (expected: ");
        assertThat(ask(gateway, "X-Session", "1")).startsWith("200 tenant=acme ");
    }
}

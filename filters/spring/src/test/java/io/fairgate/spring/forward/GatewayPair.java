package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.forward.RecordingUpstream.Script;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.NothingLeft;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Two gateways with the same routes in front of one upstream. One forwards directly where it can; the other forwards
 * all requests through Spring Cloud Gateway's filter chain. Each test sends the same to both and compares what the
 * upstream and the client got.
 *
 * <p>As an extension it starts before the tests of its class and ends with them.
 *
 * <p>Each gateway has one connection to the upstream at most, so a second request shows whether it was kept.
 */
final class GatewayPair implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private static final String WEBFLUX = "spring.cloud.gateway.server.webflux.";

    private static final List<String> PROPERTIES = List.of(
            "fairgate.policy.enabled=true",
            "fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
            "fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
            "fairgate.policy.tenants.forward-as=X-Account",
            "fairgate.policy.tenants.plans.plan.weight=1",
            "fairgate.policy.tenants.members.a.plan=plan",
            "fairgate.policy.pools.pool.permits=16",
            // An event loop may stand still for seconds on a busy machine.
            "fairgate.policy.pools.pool.max-wait=60s",
            // A large body takes more than a minute there.
            "fairgate.policy.pools.pool.max-hold=5m",
            WEBFLUX + "httpclient.pool.type=fixed",
            WEBFLUX + "httpclient.pool.max-connections=1",
            WEBFLUX + "httpclient.connect-timeout=2000",
            WEBFLUX + "httpclient.response-timeout=30s",
            // They would add filters of their own, and the program has them off as well.
            WEBFLUX + "metrics.enabled=false",
            WEBFLUX + "observability.enabled=false",
            "management.observations.enable.http.server.requests=false",
            // As in the program, so that routes are found before Spring's dispatching.
            WEBFLUX + "handler-mapping.order=-2",
            "management.server.port=-1",
            // The event loops of a closed application need not wait for more work.
            "spring.reactor.netty.shutdown-quiet-period=0s",
            // Both use the same event loops: those that the first one has stopped do not see a client of the second
            // leave.
            "server.shutdown=immediate",
            "server.address=127.0.0.1",
            "server.port=0",
            "server.http2.enabled=true",
            "spring.main.banner-mode=off",
            "logging.level.root=off");

    /** What a client does on one connection. */
    interface Conversation {
        void hold(RecordingClient client) throws Exception;
    }

    /** What the upstream and the client got. */
    record Observation(String upstream, String client) {
        String text() {
            return "--- the upstream got\n" + upstream + "--- the client got\n" + client;
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private final Class<?>[] beans;
    private final Map<String, String> properties = new LinkedHashMap<>();
    private final Map<Way, ConfigurableApplicationContext> contexts = new EnumMap<>(Way.class);
    private final RecordingUpstream upstream;
    private int routes;

    /** @param beans configurations of the user */
    GatewayPair(RecordingUpstream upstream, Class<?>... beans) {
        this.upstream = upstream;
        List<Class<?>> sources = new ArrayList<>(List.of(beans));
        sources.add(Application.class);
        this.beans = sources.toArray(Class<?>[]::new);
        for (String property : PROPERTIES) {
            int equals = property.indexOf('=');
            set(property.substring(0, equals), property.substring(equals + 1));
        }
    }

    GatewayPair set(String property, Object value) {
        properties.put(property, String.valueOf(value));
        return this;
    }

    /** A property of Spring Cloud Gateway. */
    GatewayPair setWebflux(String property, Object value) {
        return set(WEBFLUX + property, value);
    }

    /** A route to the upstream; it takes its permits from the pool unless its filters name one. */
    GatewayPair route(String id, String predicate, String... filters) {
        List<String> all = new ArrayList<>(List.of(filters));
        if (all.stream().noneMatch(filter -> filter.startsWith("FairShare="))) {
            all.add(0, "FairShare=pool");
        }
        return routeTo("http://127.0.0.1:" + upstream.port(), id, List.of(predicate), all);
    }

    /** Predicates and filters are in the shortcut form, or in the long form as {@code Name; key=value; key=value}. */
    GatewayPair routeTo(String uri, String id, List<String> predicates, List<String> filters) {
        setOfRoute("id", id);
        setOfRoute("uri", uri);
        define("predicates", predicates);
        define("filters", filters);
        routes++;
        return this;
    }

    private void define(String kind, List<String> definitions) {
        for (int i = 0; i < definitions.size(); i++) {
            String key = kind + "[" + i + "]";
            List<String> parts = List.of(definitions.get(i).split("; "));
            if (parts.size() == 1) {
                setOfRoute(key, parts.get(0));
            } else {
                setOfRoute(key + ".name", parts.get(0));
                for (String argument : parts.subList(1, parts.size())) {
                    int equals = argument.indexOf('=');
                    setOfRoute(key + ".args." + argument.substring(0, equals), argument.substring(equals + 1));
                }
            }
        }
    }

    /** Metadata of the last route. */
    GatewayPair metadata(String key, Object value) {
        routes--;
        setOfRoute("metadata." + key, String.valueOf(value));
        routes++;
        return this;
    }

    private void setOfRoute(String key, String value) {
        setWebflux("routes[" + routes + "]." + key, value);
    }

    @Override
    public void beforeAll(ExtensionContext tests) {
        for (Way way : Way.values()) {
            set("fairgate.forwarding", way.property());
            String[] options = properties.entrySet().stream()
                    .map(property -> "--" + property.getKey() + "=" + property.getValue())
                    .toArray(String[]::new);
            contexts.put(way, SpringApplication.run(beans, options));
            warmUp(way);
        }
    }

    /** A first request takes much longer than the following ones, and tests have short timeouts. */
    private void warmUp(Way way) {
        try (RecordingClient client = connect(way)) {
            client.probe();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ConfigurableApplicationContext context(Way way) {
        return Objects.requireNonNull(contexts.get(way), "a gateway that was started");
    }

    int port(Way way) {
        return Objects.requireNonNull(context(way).getEnvironment().getProperty("local.server.port", Integer.class));
    }

    RecordingUpstream upstream() {
        return upstream;
    }

    /** Whether the first gateway forwards requests of this route directly. */
    boolean isForwardedDirectly(String route) {
        Route found = Objects.requireNonNull(context(Way.DIRECT)
                .getBean(RouteLocator.class)
                .getRoutes()
                .filter(each -> each.getId().equals(route))
                .blockFirst());
        return context(Way.DIRECT).getBean(DirectRoutes.class).of(found) != null;
    }

    void assertForwardedDirectly(String route, boolean expected) {
        assertThat(isForwardedDirectly(route))
                .as("the route %s is forwarded directly", route)
                .isEqualTo(expected);
    }

    /** Holds the conversation with both gateways; what was observed, which must be the same for both. */
    Observation observe(Script script, Conversation conversation) throws Exception {
        Observation chain = observe(Way.FILTER_CHAIN, script, conversation);
        Observation direct = observe(Way.DIRECT, script, conversation);
        assertThat(direct.text()).as("forwarded directly").isEqualTo(chain.text());
        return direct;
    }

    RecordingClient connect(Way way) throws IOException {
        return new RecordingClient(way, port(way));
    }

    Observation observe(Way way, Script script, Conversation conversation) throws Exception {
        upstream.answerWith(script);
        try (RecordingClient client = connect(way)) {
            conversation.hold(client);
            return new Observation(upstream.text(), client.text());
        }
    }

    void awaitWaiting(Way way, String pool, int count) {
        PermitPool waitedFor =
                Objects.requireNonNull(context(way).getBean(PermitPools.class).get(pool));
        Patience.until(
                count + " waiting in " + pool,
                () -> NothingLeft.statusOf(waitedFor).waiting() == count);
    }

    @Override
    public void afterEach(ExtensionContext test) {
        for (ConfigurableApplicationContext context : contexts.values()) {
            for (PermitPool pool : context.getBean(PermitPools.class).all()) {
                Patience.until("nothing in flight and nothing waiting", () -> {
                    PoolStatus status = NothingLeft.statusOf(pool);
                    return status.inFlight() == 0 && status.waiting() == 0;
                });
            }
        }
    }

    @Override
    public void afterAll(ExtensionContext tests) {
        contexts.values().forEach(ConfigurableApplicationContext::close);
        upstream.close();
    }
}

package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.config.PolicyReader;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.permit.PermitPool;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policyfile.PolicySource;
import io.fairgate.status.PoolStatus;
import io.fairgate.testkit.NothingLeft;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A gateway on free loopback ports, in this process, for one test. At the end of the test nothing may be in flight or waiting, and
 * no event loop may have been blocked (BlockHound throws there). At the end of the class no Netty buffer may have leaked.
 *
 * <p>As a static extension it serves all tests of its class, which start it in {@code @BeforeAll}; the checks still run after
 * each test.
 */
final class RunningGateway implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {

    private final List<ConfigurableApplicationContext> contexts = new ArrayList<>();
    private boolean ofTheClass;

    /** Starts it with a policy and options as on the command line; a test may use one. */
    RunningGateway start(String policy, String... options) {
        return start(new PolicySource("test.yml", PolicyReader.read("test.yml", policy), null), options);
    }

    /** Starts it with the policy of a file, which may change then. */
    RunningGateway start(Path policy, String... options) {
        return start(PolicySource.of(policy), options);
    }

    private RunningGateway start(PolicySource policy, String... options) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        for (String needed : List.of(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.port=0",
                "--fairgate.shutdown-grace=0s")) {
            String name = needed.substring(0, needed.indexOf('=') + 1);
            if (all.stream().noneMatch(option -> option.startsWith(name))) {
                all.add(needed);
            }
        }
        contexts.add(new GatewayRun(policy).start(Map.of("logging.level.root", "warn"), all.toArray(String[]::new)));
        return this;
    }

    ConfigurableApplicationContext context() {
        assertThat(contexts).as("a gateway that was started").isNotEmpty();
        return contexts.get(0);
    }

    int port() {
        return localPort("local.server.port");
    }

    int managementPort() {
        return localPort("local.management.port");
    }

    String url(String path) {
        return "http://127.0.0.1:" + port() + path;
    }

    String managementUrl(String path) {
        return "http://127.0.0.1:" + managementPort() + path;
    }

    private int localPort(String property) {
        return Objects.requireNonNull(context().getEnvironment().getProperty(property, Integer.class));
    }

    PoolStatus pool(String name) {
        PermitPool pool = context().getBean(PermitPools.class).get(name);
        return NothingLeft.statusOf(Objects.requireNonNull(pool, () -> "no pool " + name));
    }

    void awaitWaiting(String pool, int count) {
        eventually(
                () -> assertThat(pool(pool).waiting()).as("waiting in %s", pool).isEqualTo(count));
    }

    void awaitInFlight(String pool, int count) {
        eventually(() ->
                assertThat(pool(pool).inFlight()).as("in flight in %s", pool).isEqualTo(count));
    }

    /** Waits for events on other threads, for as long as a busy machine needs. */
    static void eventually(org.awaitility.core.ThrowingRunnable assertion) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(10))
                .atMost(Duration.ofSeconds(20))
                .untilAsserted(assertion);
    }

    /** Called for a static extension only. */
    @Override
    public void beforeAll(ExtensionContext tests) {
        ofTheClass = true;
    }

    @Override
    public void afterEach(ExtensionContext test) {
        try {
            awaitNothingLeft();
        } finally {
            if (!ofTheClass) {
                close();
            }
            NettyLeaks.assertNoneAfterTheClassOf(test);
        }
    }

    @Override
    public void afterAll(ExtensionContext tests) {
        close();
    }

    void awaitNothingLeft() {
        for (ConfigurableApplicationContext context : contexts) {
            for (PermitPool pool : context.getBean(PermitPools.class).all()) {
                awaitWaiting(pool.name(), 0);
                awaitInFlight(pool.name(), 0);
            }
        }
    }

    /** Ends it before its test does. */
    void close() {
        contexts.forEach(ConfigurableApplicationContext::close);
        contexts.clear();
    }
}

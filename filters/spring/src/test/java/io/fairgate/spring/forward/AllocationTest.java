package io.fairgate.spring.forward;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fairgate.spring.OwnLoop;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;

/**
 * How much memory a request takes that passes an identity, a permit and two quotas: what was reached, and a tenth more. It
 * hardly varies from run to run, so a change that gives this away is red.
 */
class AllocationTest {

    private static final String WEBFLUX = "spring.cloud.gateway.server.webflux.";
    private static final byte[] REQUEST =
            "GET /x HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> response.header("Content-Length", "64")
                    .header("Content-Type", "text/plain")
                    .sendString(Mono.just("0123456789abcdef".repeat(4))))
            .bindNow();

    private ConfigurableApplicationContext gateway;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @AfterEach
    void stop() {
        gateway.close();
        upstream.disposeNow(Duration.ofSeconds(30));
    }

    private void start(String forwarding) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        gateway = application.run(
                "--fairgate.forwarding=" + forwarding,
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8",
                "--fairgate.policy.tenants.plans.plan.quotas[0].name=burst",
                "--fairgate.policy.tenants.plans.plan.quotas[0].limit=1000000",
                "--fairgate.policy.tenants.plans.plan.quotas[0].per=1s",
                "--fairgate.policy.tenants.plans.plan.quotas[1].name=daily",
                "--fairgate.policy.tenants.plans.plan.quotas[1].limit=1000000000",
                "--fairgate.policy.tenants.plans.plan.quotas[1].per=day",
                "--fairgate.policy.tenants.members.a.plan=plan",
                "--fairgate.policy.pools.pool.permits=100",
                "--" + WEBFLUX + "routes[0].id=up",
                "--" + WEBFLUX + "routes[0].uri=http://127.0.0.1:" + upstream.port(),
                "--" + WEBFLUX + "routes[0].predicates[0]=Path=/**",
                "--" + WEBFLUX + "routes[0].filters[0]=FairShare=pool",
                "--" + WEBFLUX + "handler-mapping.order=-2",
                "--" + WEBFLUX + "httpclient.connect-timeout=2000",
                "--" + WEBFLUX + "httpclient.response-timeout=30s",
                "--" + WEBFLUX + "metrics.enabled=false",
                "--" + WEBFLUX + "observability.enabled=false",
                "--management.observations.enable.http.server.requests=false",
                "--management.server.port=-1",
                "--server.address=127.0.0.1",
                "--server.port=0");
    }

    @ParameterizedTest(name = "{0}: at most {1} bytes")
    @CsvSource({"direct, 22000", "filter-chain, 59900"})
    void a_request_takes_no_more_memory_than_was_reached(String forwarding, long most) throws IOException {
        start(forwarding);
        int port = Objects.requireNonNull(gateway.getEnvironment().getProperty("local.server.port", Integer.class));
        long each = Long.MAX_VALUE;
        // The compiler goes on while requests come, so the last rounds take the least.
        for (int round = 0; round < 8; round++) {
            each = Math.min(each, bytesEach(port, 3_000));
        }
        assertThat(each).isBetween(10_000L, most);
    }

    private static long bytesEach(int port, int requests) throws IOException {
        try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            client.setTcpNoDelay(true);
            long before = allocated();
            for (int i = 0; i < requests; i++) {
                client.getOutputStream().write(REQUEST);
                readResponse(client.getInputStream());
            }
            return (allocated() - before) / requests;
        }
    }

    /** By the threads of the gateway. */
    private static long allocated() {
        return Arrays.stream(THREADS.getThreadInfo(THREADS.getAllThreadIds()))
                .filter(thread -> thread != null && isOfGateway(thread.getThreadName()))
                .mapToLong(thread -> THREADS.getThreadAllocatedBytes(thread.getThreadId()))
                .sum();
    }

    private static boolean isOfGateway(String thread) {
        return thread.startsWith("reactor-http") || thread.startsWith("parallel");
    }

    private static void readResponse(InputStream in) throws IOException {
        byte[] buffer = new byte[4096];
        StringBuilder read = new StringBuilder();
        while (!read.toString().endsWith("0123456789abcdef")) {
            int bytes = in.read(buffer);
            assertThat(bytes).isPositive();
            read.append(new String(buffer, 0, bytes, StandardCharsets.US_ASCII));
        }
        assertThat(read).startsWith("HTTP/1.1 200 ");
    }
}

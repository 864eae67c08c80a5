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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;

/**
 * How much memory a request takes that passes an identity, a permit and two quotas, and one that is refused at each of
 * these: what was reached, and a twentieth more. It hardly varies from run to run, so a change that gives this away is red. The
 * optimizing compiler, which these tests do without, saves a little more.
 */
class AllocationTest {

    private static final String WEBFLUX = "spring.cloud.gateway.server.webflux.";
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final Pattern LENGTH = Pattern.compile("(?is).*\r\ncontent-length: (\\d+)\r\n.*");

    /** What a client sends, and the status of the answer. */
    private enum Sent {
        ADMITTED("/x", "a", 200),
        WITHOUT_A_KNOWN_TENANT("/x", "unlisted", 403),
        ABOVE_ITS_QUOTA("/x", "small", 429),
        TO_A_FULL_QUEUE("/full", "a", 503);

        private final String text;
        private final String start;

        Sent(String path, String tenant, int status) {
            text = request(path, tenant);
            start = "HTTP/1.1 " + status + " ";
        }
    }

    private static String request(String path, String tenant) {
        return "GET %s HTTP/1.1\r\nHost: test\r\nX-Tenant-Id: %s\r\n\r\n".formatted(path, tenant);
    }

    private static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private final Sinks.Empty<Void> end = Sinks.empty();

    private final DisposableServer upstream = OwnLoop.server()
            .handle((request, response) -> request.uri().equals("/full")
                    ? end.asMono()
                    : response.header("Content-Length", "64")
                            .header("Content-Type", "text/plain")
                            .sendString(Mono.just("0123456789abcdef".repeat(4))))
            .bindNow();

    private ConfigurableApplicationContext gateway;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @AfterEach
    void stop() {
        end.emitEmpty(Sinks.EmitFailureHandler.FAIL_FAST);
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
                "--fairgate.policy.tenants.plans.small.quotas[0].name=daily",
                "--fairgate.policy.tenants.plans.small.quotas[0].limit=1",
                "--fairgate.policy.tenants.plans.small.quotas[0].per=day",
                "--fairgate.policy.tenants.members.small.plan=small",
                "--fairgate.policy.pools.pool.permits=100",
                "--fairgate.policy.pools.full.permits=1",
                "--fairgate.policy.pools.full.max-waiting=0",
                "--" + WEBFLUX + "routes[1].id=full",
                "--" + WEBFLUX + "routes[1].uri=http://127.0.0.1:" + upstream.port(),
                "--" + WEBFLUX + "routes[1].predicates[0]=Path=/full",
                "--" + WEBFLUX + "routes[1].filters[0]=FairShare=full",
                "--" + WEBFLUX + "routes[1].order=-1",
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

    @ParameterizedTest(name = "{0}, {1}: at most {2} bytes")
    @CsvSource({
        "direct, ADMITTED, 18800",
        "filter-chain, ADMITTED, 66000",
        "direct, WITHOUT_A_KNOWN_TENANT, 8900",
        "direct, ABOVE_ITS_QUOTA, 10700",
        "direct, TO_A_FULL_QUEUE, 11100",
    })
    void a_request_takes_no_more_memory_than_was_reached(String forwarding, Sent sent, long most) throws IOException {
        start(forwarding);
        int port = Objects.requireNonNull(gateway.getEnvironment().getProperty("local.server.port", Integer.class));
        try (Socket holder = new Socket(InetAddress.getLoopbackAddress(), port);
                Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
            send(holder, request("/full", "a"));
            client.setTcpNoDelay(true);
            awaitAnswer(client, sent);
            long each = Long.MAX_VALUE;
            // The first round has what is made once, and one of the others perhaps a task of the gateway.
            for (int round = 0; round < 4; round++) {
                each = Math.min(each, bytesEach(client, sent, 500));
            }
            assertThat(each).isBetween(2_000L, most);
        }
    }

    /** The first request of a small quota passes it, and a queue is full when the holder has its permit. */
    private static void awaitAnswer(Socket client, Sent sent) throws IOException {
        for (int i = 0; i < 100 && !exchange(client, sent).startsWith(sent.start); i++) {
            Thread.onSpinWait();
        }
    }

    private static long bytesEach(Socket client, Sent sent, int requests) throws IOException {
        long before = allocated();
        for (int i = 0; i < requests; i++) {
            assertThat(exchange(client, sent)).startsWith(sent.start);
        }
        return (allocated() - before) / requests;
    }

    private static String exchange(Socket client, Sent sent) throws IOException {
        send(client, sent.text);
        return readResponse(client.getInputStream());
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

    private static String readResponse(InputStream in) throws IOException {
        byte[] buffer = new byte[4096];
        StringBuilder read = new StringBuilder();
        int headers = -1;
        while (headers < 0 || read.length() < headers + 4 + length(read)) {
            int bytes = in.read(buffer);
            assertThat(bytes).isPositive();
            read.append(new String(buffer, 0, bytes, StandardCharsets.US_ASCII));
            headers = read.indexOf("\r\n\r\n");
        }
        return read.toString();
    }

    private static int length(CharSequence headers) {
        Matcher length = LENGTH.matcher(headers);
        assertThat(length.matches()).isTrue();
        return Integer.parseInt(length.group(1));
    }
}

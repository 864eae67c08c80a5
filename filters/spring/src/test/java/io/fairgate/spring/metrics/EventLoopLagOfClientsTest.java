package io.fairgate.spring.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.resources.LoopResources;

/** The lag of a running gateway's event loops. */
class EventLoopLagOfClientsTest {

    private static final Duration BUSY = Duration.ofMillis(300);
    private static final LoopResources LOOPS = LoopResources.create("lag", 1, true);

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OneLoop {

        @Bean
        ReactorResourceFactory resources() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            resources.setLoopResourcesSupplier(() -> LOOPS);
            return resources;
        }
    }

    private static ConfigurableApplicationContext start() {
        SpringApplication application = new SpringApplication(OneLoop.class);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(Map.of("logging.level.root", "off", "spring.main.banner-mode", "off"));
        return application.run(
                "--server.address=127.0.0.1",
                "--server.port=0",
                "--management.server.address=127.0.0.1",
                "--management.server.port=0",
                "--fairgate.policy.enabled=true",
                "--fairgate.policy.tenants.identify[0].header=X-Tenant-Id",
                "--fairgate.policy.tenants.identify[0].trusted-from=127.0.0.0/8");
    }

    /** After the answer, the loop measures itself. */
    private static void request(ConfigurableApplicationContext context) throws IOException {
        int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: test\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(socket.getInputStream().read()).isEqualTo('H');
        }
    }

    private static void keepBusy() {
        long end = System.nanoTime() + BUSY.toNanos();
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void a_loop_that_is_kept_busy_shows_as_lag() throws IOException {
        try (ConfigurableApplicationContext context = start()) {
            request(context);
            LOOPS.onServer(true)
                    .next()
                    .submit(EventLoopLagOfClientsTest::keepBusy)
                    .syncUninterruptibly();
            assertThat(context.getBean(MeterRegistry.class)
                            .get(Meter.EVENT_LOOP_LAG.id())
                            .gauge()
                            .value())
                    .isBetween(0.2, 60.0);
        }
    }
}

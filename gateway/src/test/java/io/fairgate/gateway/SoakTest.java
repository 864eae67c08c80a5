package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import javax.management.JMException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * An hour of mixed traffic, and reloads of the policy, good and bad: at its end there are hardly more objects, sockets, timers, threads
 * and time series than after its first twelfth, and no request has failed. {@code -Dfairgate.soak=5m} makes it shorter.
 */
@Tag("soak")
@Timeout(value = 2, unit = TimeUnit.HOURS)
class SoakTest {

    private static final Duration TIME =
            Duration.parse("PT" + System.getProperty("fairgate.soak", "1h").toUpperCase(Locale.ROOT));

    /** Caches and bounded logs fill up meanwhile. */
    private static final Duration LEAST_BEGINNING = Duration.ofSeconds(30);

    private static final long MILLION = 1_000_000;
    private static final int MOST_LINES = 20;

    /** More than logs and caches of a fixed size take, and far less than one for each request of an hour. */
    private static final int MOST_OBJECTS = 20_000;

    /** How much is there while nothing happens. */
    private record Resources(
            LiveObjects objects, long direct, long sockets, long timers, long files, int threads, int series) {

        static Resources count(RunningGateway gateway) throws JMException {
            int series = MetricsPage.upToDate(gateway).samples().size();
            LiveObjects objects = LiveObjects.count();
            return new Resources(
                    objects,
                    ((ByteBufAllocatorMetricProvider) ByteBufAllocator.DEFAULT)
                            .metric()
                            .usedDirectMemory(),
                    objects.of("io.netty.channel.epoll.EpollSocketChannel")
                            + objects.of("io.netty.channel.socket.nio.NioSocketChannel"),
                    objects.of("io.netty.util.concurrent.ScheduledFutureTask")
                            + objects.of("java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask"),
                    ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                            .getOpenFileDescriptorCount(),
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    series);
        }

        void assertNotMoreThan(Resources before) {
            assertThat(objects.moreThan(before.objects, MOST_OBJECTS))
                    .as("objects that have become more")
                    .isEmpty();
            assertThat(objects.bytes())
                    .as("bytes of objects")
                    .isLessThan(before.objects.bytes() + before.objects.bytes() / 20 + 4 * MILLION);
            assertThat(direct).as("bytes of buffers").isLessThan(before.direct * 2 + 32 * MILLION);
            assertThat(sockets).as("sockets").isLessThanOrEqualTo(before.sockets + 4);
            assertThat(timers).as("timers").isLessThanOrEqualTo(before.timers + 20);
            assertThat(files).as("open files").isLessThanOrEqualTo(before.files + 10);
            assertThat(threads).as("threads").isLessThanOrEqualTo(before.threads + 5);
            assertThat(series).as("time series").isLessThanOrEqualTo(before.series + 80);
        }

        @Override
        public String toString() {
            return "%,d bytes, %,d bytes of buffers, %d sockets, %d timers, %d files, %d threads, %d series"
                    .formatted(objects.bytes(), direct, sockets, timers, files, threads, series);
        }
    }

    /** Lines of the log that nothing here should cause. */
    private static final class Unexpected extends AppenderBase<ILoggingEvent> {

        private final Queue<String> lines = new ConcurrentLinkedQueue<>();

        @Override
        protected void append(ILoggingEvent event) {
            boolean isKnown = event.getLoggerName().endsWith("ClientFaults")
                    || event.getLoggerName().startsWith("io.fairgate.spring.policyfile");
            if (event.getLevel().isGreaterOrEqual(Level.WARN) && !isKnown && lines.size() < MOST_LINES) {
                lines.add(event + "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy()));
            }
        }
    }

    @RegisterExtension
    final RunningGateway gateway = new RunningGateway();

    @RegisterExtension
    final ScriptedUpstream upstream = new ScriptedUpstream();

    private volatile boolean over;

    /** Each file has another weight, another member, and every second one has a pool and a route more. */
    private String policy(int number) {
        String more = number % 2 == 0 ? "" : """
                  - id: more
                    uri: %s
                    predicates: [ "Path=/more/**" ]
                    filters: [ "FairShare=more" ]
                """.formatted(upstream.url()).indent(0);
        return TestPolicy.onePool(upstream.url(), "permits: 12, max-wait: 60s, on-client-left: close")
                .replace(
                        "a: { plan: plan }",
                        "a: { plan: plan, weight: %d }\n    t-%d: { plan: plan }".formatted(1 + number % 5, number))
                .replace("    plan: {}", "    plan: {}\n    small: { quotas: [ { name: some, limit: 5, per: 1s } ] }")
                .replace("c: { plan: plan }", "c: { plan: small }")
                .replace(
                        "pools:",
                        "pools:\n  leased: { permits: 50 }" + (more.isEmpty() ? "" : "\n  more: { permits: 1 }"))
                .concat("""
                          - id: silent
                            uri: %s
                            predicates: [ "Path=/silent/**" ]
                            filters: [ "FairShare=pool" ]
                            metadata: { response-timeout: 1s }
                        """.formatted(upstream.url()).indent(0))
                .concat(more);
    }

    private void scriptUpstream() {
        String large = "x".repeat(SoakTraffic.LARGE_BYTES);
        upstream.on(SoakTraffic.HELD, exchange -> {
                    Thread.sleep(5);
                    ScriptedUpstream.OK.answer(exchange);
                })
                .on(
                        SoakTraffic.LARGE,
                        exchange -> exchange.sendLast(
                                "HTTP/1.1 200 OK\r\nContent-Length: " + large.length() + "\r\n\r\n" + large))
                .on(SoakTraffic.RESET, ScriptedUpstream.Exchange::reset)
                .on(SoakTraffic.GARBAGE, exchange -> {
                    exchange.sendLast("HTTP/1.1 hello\r\n\r\n");
                    exchange.socket().close();
                })
                .on(SoakTraffic.SILENT, ScriptedUpstream.Exchange::awaitClose)
                .onHead(SoakTraffic.WEB_SOCKET, exchange -> {
                    exchange.send(WebSocketTunnelTest.ACCEPT);
                    exchange.in().transferTo(exchange.socket().getOutputStream());
                });
    }

    private void reloadAtTimes(PolicyFileOnDisk file) {
        for (int i = 0; !over; i++) {
            upstream.forgetRequests(); // It would record all of them.
            boolean isBroken = i % 3 == 2;
            file.write(isBroken ? "pools: [" : policy(i));
            try {
                Thread.sleep(2_000);
                var unused = isBroken ? null : Answer.to(gateway.url("/fair/x"), "X-Tenant-Id", "t-" + i);
            } catch (InterruptedException e) {
                return;
            }
        }
        file.write(policy(1));
        upstream.forgetRequests();
    }

    @Test
    void nothing_grows(@TempDir Path folder) throws Exception {
        PolicyFileOnDisk file = new PolicyFileOnDisk(folder.resolve("fairgate.yml")).write(policy(1));
        scriptUpstream();
        gateway.start(
                file.path(),
                LeasingTenant.ON,
                "--fairgate.leases.port=0",
                "--fairgate.watch-policy=500ms",
                // Full in the first minutes, so that what is recorded for what-if does not grow after them.
                "--fairgate.what-if.requests=1000",
                "--logging.level.io.fairgate.spring.policyfile=off",
                "--fairgate.clients.body-pause=1s");
        Unexpected unexpected = listen();
        SoakTraffic traffic = new SoakTraffic(gateway);
        CompletableFuture<Void> reloads =
                CompletableFuture.runAsync(() -> reloadAtTimes(file), task -> new Thread(task).start());

        Duration beginning = Collections.max(List.of(TIME.dividedBy(12), LEAST_BEGINNING));
        traffic.runFor(beginning.toMillis(), 1);
        rest();
        upstream.forgetRequests();
        Resources before = Resources.count(gateway);
        System.out.println("Soak: after " + traffic.visits() + " visits " + before);
        traffic.runFor(TIME.minus(beginning).toMillis(), 1_000);
        over = true;
        reloads.join();
        rest();

        Awaitility.await()
                .pollInterval(Duration.ofSeconds(5))
                .atMost(Duration.ofMinutes(3))
                .untilAsserted(() -> Resources.count(gateway).assertNotMoreThan(before));
        System.out.println("Soak: after " + traffic.visits() + " visits " + Resources.count(gateway));
        assertThat(traffic.failures()).isEmpty();
        assertThat(traffic.missing()).isEmpty();
        assertAllHasHappened();
        assertThat(List.copyOf(unexpected.lines)).isEmpty();
        assertThat(traffic.visits()).isGreaterThan(TIME.toSeconds() * 10);
    }

    private void assertAllHasHappened() {
        MetricsPage page = MetricsPage.upToDate(gateway);
        assertThat(page.tagValues("fairgate_refusals_total", "reason"))
                .contains("missing", "unknown-tenant", "ambiguous-path", "no-route", "connect", "quota");
        assertThat(page.tagValues("fairgate_failures_total", "reason"))
                .contains("upstream-lost", "upstream-timeout", "slow-body");
        assertThat(page.value("fairgate_policy_reloads_total", "result", "success"))
                .as("reloads")
                .isPositive();
        assertThat(page.value("fairgate_policy_reloads_total", "result", "failure"))
                .as("files that were refused")
                .isPositive();
        // This tenant does not ask for what an upstream fails at.
        assertThat(page.value("fairgate_failures_total", "pool", "pool", "tenant", "b", "reason", "upstream-lost"))
                .isZero();
    }

    private static Unexpected listen() {
        LoggerContext log = (LoggerContext) LoggerFactory.getILoggerFactory();
        Unexpected unexpected = new Unexpected();
        unexpected.setContext(log);
        unexpected.start();
        log.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(unexpected);
        return unexpected;
    }

    /** Until nothing is in flight, leases that were left have expired, and short timers have ended. */
    private void rest() throws InterruptedException {
        gateway.awaitNothingLeft();
        Thread.sleep(5_000);
    }
}

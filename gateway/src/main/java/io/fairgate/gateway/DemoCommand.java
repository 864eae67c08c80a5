package io.fairgate.gateway;

import io.fairgate.config.PolicyReader;
import io.fairgate.gateway.DemoReport.Phase;
import io.fairgate.gateway.DemoReport.Row;
import io.fairgate.gateway.DemoTraffic.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.springframework.context.ConfigurableApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code demo}: a noisy and a quiet tenant in front of a slow upstream, without and with {@code FairShare}. */
@Command(
        name = "demo",
        description =
                "Shows what fair admission does: a gateway, a slow upstream, a noisy and a quiet tenant in one process.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
final class DemoCommand implements Callable<Integer> {

    /** Permits of the pool in demo.yml, and connections to the upstream of the plain route. */
    private static final int CAPACITY = 8;

    private static final int NOISY_CONNECTIONS = 64;
    private static final int QUIET_CONNECTIONS = 2;

    @Option(
            names = "--quiet-seconds",
            paramLabel = "N",
            defaultValue = "4",
            description = "How long the quiet tenant sends alone (default: ${DEFAULT-VALUE}).")
    private int quietSeconds;

    @Option(
            names = "--noisy-seconds",
            paramLabel = "N",
            defaultValue = "8",
            description = "How long both send, on each route (default: ${DEFAULT-VALUE}).")
    private int noisySeconds;

    @Option(names = "--exit", description = "End after the table instead of serving on.")
    private boolean exit;

    @Unmatched
    private List<String> unmatched = new ArrayList<>();

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws InterruptedException {
        String[] options = SpringOptions.checked(command, unmatched);
        PrintWriter out = command.commandLine().getOut();
        DemoUpstream behindPlain = new DemoUpstream();
        DemoUpstream behindFair = new DemoUpstream();
        ConfigurableApplicationContext gateway;
        try {
            gateway = gateway(behindPlain, behindFair).start(settings(), options);
        } catch (StartFailedException failed) {
            return 1;
        }
        String url = "http://127.0.0.1:" + gateway.getEnvironment().getProperty("local.server.port");
        out.printf(
                "The gateway listens on %s, in front of an upstream that takes 50 ms and gets %d requests at once.%n",
                url, CAPACITY);
        measure(url, behindPlain, behindFair, out).print(out);
        if (exit) {
            gateway.close();
        } else {
            GatewayRun.endWithZeroWhenTold();
            out.printf(
                    "%nStill serving; end it with Ctrl-C. Try:%n%n  curl -i -H 'X-Tenant-Id: quiet' %s/fair/hello%n",
                    url);
            out.flush();
        }
        return 0;
    }

    private static GatewayRun gateway(DemoUpstream behindPlain, DemoUpstream behindFair) {
        String policy =
                policyText().replace(":PLAIN", ":" + behindPlain.port()).replace(":FAIR", ":" + behindFair.port());
        return new GatewayRun(PolicyReader.read("demo.yml", policy), "demo.yml");
    }

    private static String policyText() {
        try (InputStream in = Objects.requireNonNull(DemoCommand.class.getResourceAsStream("/demo.yml"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Quiet logs, and a bounded connection pool to each upstream, as an operator would have without Fairgate. */
    private static Map<String, Object> settings() {
        String pool = "spring.cloud.gateway.server.webflux.httpclient.pool.";
        return Map.of("logging.level.root", "warn", pool + "type", "fixed", pool + "max-connections", CAPACITY);
    }

    private DemoReport measure(String url, DemoUpstream behindPlain, DemoUpstream behindFair, PrintWriter out)
            throws InterruptedException {
        DemoTraffic quiet = new DemoTraffic(url, "quiet", QUIET_CONNECTIONS);
        DemoTraffic noisy = new DemoTraffic(url, "noisy", NOISY_CONNECTIONS);
        Duration warmUp = Duration.ofSeconds(1);
        phase("warming up", "/plain/", behindPlain, warmUp, out, noisy, quiet);
        phase("warming up", "/fair/", behindFair, warmUp, out, noisy, quiet);
        Duration together = Duration.ofSeconds(noisySeconds);
        return new DemoReport(
                phase("FairShare route, alone", "/fair/", behindFair, Duration.ofSeconds(quietSeconds), out, quiet),
                phase("plain route", "/plain/", behindPlain, together, out, quiet, noisy),
                phase("FairShare route", "/fair/", behindFair, together, out, quiet, noisy));
    }

    private static Phase phase(
            String name, String path, DemoUpstream upstream, Duration time, PrintWriter out, DemoTraffic... senders)
            throws InterruptedException {
        upstream.forget();
        Disposable progress = showProgress(name, time, out, senders);
        try {
            List<Outcome> outcomes = await(Flux.fromArray(senders)
                    .flatMapSequential(sender -> sender.run(path, time), senders.length)
                    .collectList());
            List<Row> rows = outcomes.stream()
                    .map(outcome -> new Row(outcome, upstream.shareOf(outcome.tenant())))
                    .toList();
            return new Phase(name, rows, upstream.highestConcurrency());
        } finally {
            progress.dispose();
            clearProgress(out);
        }
    }

    /** A line that changes on a terminal; elsewhere one plain line. */
    private static Disposable showProgress(String name, Duration time, PrintWriter out, DemoTraffic... senders) {
        String who = String.join(
                " and ", Arrays.stream(senders).map(DemoTraffic::tenant).toList());
        if (!Ansi.AUTO.enabled()) {
            out.printf("%s: %s for %d s%n", name, who, time.toSeconds());
            out.flush();
            return Disposables.disposed();
        }
        long before = answered(senders);
        return Flux.interval(Duration.ZERO, Duration.ofMillis(200)).subscribe(tick -> {
            out.printf("\r\u001b[K%s: %s, %d requests", name, who, answered(senders) - before);
            out.flush();
        });
    }

    private static void clearProgress(PrintWriter out) {
        if (Ansi.AUTO.enabled()) {
            out.print("\r\u001b[K");
            out.flush();
        }
    }

    private static long answered(DemoTraffic... senders) {
        return Arrays.stream(senders).mapToLong(DemoTraffic::answered).sum();
    }

    /** The command's own thread has nothing else to do meanwhile. */
    private static <T> T await(Mono<T> result) throws InterruptedException {
        AtomicReference<T> value = new AtomicReference<>();
        CountDownLatch ended = new CountDownLatch(1);
        var unused = result.doFinally(end -> ended.countDown()).subscribe(value::set);
        ended.await();
        return Objects.requireNonNull(value.get(), "the traffic ended without a result");
    }
}

package io.fairgate.gateway.cli;

import io.fairgate.config.PolicyReader;
import io.fairgate.gateway.cli.DemoReport.Phase;
import io.fairgate.gateway.cli.DemoReport.Row;
import io.fairgate.gateway.cli.DemoTraffic.Outcome;
import io.fairgate.gateway.http.Bytes;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.gateway.start.StartFailedException;
import io.fairgate.gateway.start.Version;
import io.fairgate.spring.policyfile.PolicySource;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextClosedEvent;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** {@code demo}: a noisy and a quiet tenant in front of a slow upstream, without and with {@code FairShare}. */
@Command(
        name = "demo",
        description =
                "Shows the effect of fair admission: a gateway, a slow upstream, a noisy and a quiet tenant in one process.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class DemoCommand implements Callable<Integer> {

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

    @Option(names = "--exit", description = "Exit after the table instead of serving on.")
    private boolean exit;

    @Unmatched
    private List<String> unmatched = new ArrayList<>();

    @Spec
    private CommandSpec command;

    private final Sinks.Empty<Void> closed = Sinks.empty();

    @Override
    public Integer call() {
        String[] options = GatewayRun.apart(
                SpringOptions.checked(command, unmatched),
                "--fairgate.shutdown-grace=0s",
                "--fairgate.backend=embedded",
                "--fairgate.redis.outage=fail-closed",
                "--fairgate.redis.quota-outage=fail-closed",
                "--fairgate.redis.gateways=",
                "--fairgate.redis.reserve=");
        requirePositive("--quiet-seconds", quietSeconds);
        requirePositive("--noisy-seconds", noisySeconds);
        PrintWriter out = command.commandLine().getOut();
        DemoUpstream behindPlain = new DemoUpstream();
        DemoUpstream behindFair = new DemoUpstream();
        ConfigurableApplicationContext gateway;
        try {
            gateway = gateway(behindPlain, behindFair).start(settings(), options);
        } catch (StartFailedException failed) {
            return 1;
        }
        String url = url(gateway, "local.server.port");
        String management = url(gateway, "local.management.port");
        out.printf(
                "The gateway listens on %s.%n"
                        + "%s/ in a browser shows who holds the permits and who waits.%n"
                        + "The upstream behind it takes 50 ms and gets %d requests at once.%n"
                        + "The quiet tenant sends %d requests at once, the noisy one %d.%n",
                url, management, CAPACITY, QUIET_CONNECTIONS, NOISY_CONNECTIONS);
        out.flush();
        gateway.addApplicationListener((ContextClosedEvent event) -> closed.tryEmitEmpty());
        try {
            measure(url, behindPlain, behindFair, out).print(out);
        } catch (CancellationException e) {
            return 0;
        }
        if (exit) {
            gateway.close();
        } else {
            GatewayRun.exitWithZeroOnSignal();
            out.printf(
                    "%nStill serving; stop it with Ctrl-C. Try:%n%n"
                            + "  curl -i -H 'X-Tenant-Id: quiet' %1$s/fair/hello%n"
                            + "  curl -i -H 'X-Tenant-Id: limited' %1$s/fair/hello    # its quota is 3 requests in 10 s%n"
                            + "  curl %2$s/actuator/pools                            # permits in use, by tenant%n%n"
                            + "or %2$s/ in a browser.%n",
                    url, management);
            out.flush();
        }
        return 0;
    }

    private static String url(ConfigurableApplicationContext gateway, String port) {
        return "http://127.0.0.1:" + gateway.getEnvironment().getProperty(port);
    }

    private void requirePositive(String option, int seconds) {
        if (seconds < 1) {
            throw new ParameterException(command.commandLine(), "%s: %d (expected: >= 1)".formatted(option, seconds));
        }
    }

    private static GatewayRun gateway(DemoUpstream behindPlain, DemoUpstream behindFair) {
        String policy = new String(Bytes.beside(DemoCommand.class, "/demo.yml"), StandardCharsets.UTF_8)
                .replace(":PLAIN", ":" + behindPlain.port())
                .replace(":FAIR", ":" + behindFair.port());
        return new GatewayRun(new PolicySource("demo.yml", PolicyReader.read("demo.yml", policy), null));
    }

    /** Quiet logs, and a bounded connection pool for each upstream, as an operator would configure without Fairgate. */
    private static Map<String, Object> settings() {
        String pool = "spring.cloud.gateway.server.webflux.httpclient.pool.";
        return Map.of("logging.level.root", "warn", pool + "type", "fixed", pool + "max-connections", CAPACITY);
    }

    private DemoReport measure(String url, DemoUpstream behindPlain, DemoUpstream behindFair, PrintWriter out) {
        DemoTraffic quiet = new DemoTraffic(url, "quiet", QUIET_CONNECTIONS);
        DemoTraffic noisy = new DemoTraffic(url, "noisy", NOISY_CONNECTIONS);
        Duration warmUp = Duration.ofSeconds(1);
        phase("warm-up, plain route", "/plain/", behindPlain, warmUp, out, quiet, noisy);
        phase("warm-up, FairShare route", "/fair/", behindFair, warmUp, out, quiet, noisy);
        Duration together = Duration.ofSeconds(noisySeconds);
        return new DemoReport(
                phase("alone", "/fair/", behindFair, Duration.ofSeconds(quietSeconds), out, quiet),
                phase("plain route", "/plain/", behindPlain, together, out, quiet, noisy),
                phase("FairShare route", "/fair/", behindFair, together, out, quiet, noisy));
    }

    /**
     * Blocks the command's own thread, which has nothing else to do meanwhile.
     *
     * @throws CancellationException when the process is ending, so that no traffic is sent during the shutdown
     */
    private Phase phase(
            String name, String path, DemoUpstream upstream, Duration time, PrintWriter out, DemoTraffic... senders) {
        upstream.forget();
        Disposable progress = showProgress(name, time, out, senders);
        try {
            List<Outcome> outcomes = Flux.fromArray(senders)
                    .flatMapSequential(sender -> sender.run(path, time), senders.length)
                    .collectList()
                    .takeUntilOther(closed.asMono())
                    .switchIfEmpty(Mono.error(CancellationException::new))
                    .toFuture()
                    .join();
            List<Row> rows = outcomes.stream()
                    .map(outcome -> new Row(outcome, upstream.shareOf(outcome.tenant())))
                    .toList();
            return new Phase(name, time, rows, upstream.highestConcurrency());
        } finally {
            progress.dispose();
            clearProgress(out);
        }
    }

    /** One line that is updated on a terminal; elsewhere one plain line. */
    private static Disposable showProgress(String name, Duration time, PrintWriter out, DemoTraffic... senders) {
        String tenants = String.join(
                " and ", Arrays.stream(senders).map(DemoTraffic::tenant).toList());
        if (!Ansi.AUTO.enabled()) {
            out.printf("%s: %s for %d s ...%n", name, tenants, time.toSeconds());
            out.flush();
            return Disposables.disposed();
        }
        long before = answered(senders);
        return Flux.interval(Duration.ZERO, Duration.ofMillis(200)).subscribe(tick -> {
            out.printf(
                    "\r\u001b[K%s: %s for %d s ... %d answers",
                    name, tenants, time.toSeconds(), answered(senders) - before);
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
}

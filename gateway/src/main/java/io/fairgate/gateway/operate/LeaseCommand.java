package io.fairgate.gateway.operate;

import io.fairgate.client.LeaseClient;
import io.fairgate.client.LeaseClientSettings;
import io.fairgate.client.LeaseException;
import io.fairgate.client.LeaseOptions;
import io.fairgate.gateway.start.Version;
import io.fairgate.time.DurationText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code lease --pool P -- command}: runs a command while it holds permits of a pool, as {@code flock} does with a lock. The command is
 * ended when the lease is lost, because others may have the permits then.
 */
@Command(
        name = LeaseCommand.NAME,
        description = "Runs a command that holds permits of a pool of a running gateway meanwhile.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        footer = {
            "",
            "The exit code is that of the command; 75 when it got no permits and another try may, 64 when none can, such as for an unknown"
                    + " pool, and 76 when the lease was lost and the command was ended.",
            "When it is ended, so are the processes that it has started, unless they have left it.",
            "The command has the lease in FAIRGATE_LEASE, and its fencing token in FAIRGATE_TOKEN.",
            "A key of the tenant is read from the environment variable FAIRGATE_API_KEY."
        })
public final class LeaseCommand implements Callable<Integer> {

    public static final String NAME = "lease";

    /** EX_TEMPFAIL of sysexits.h: another try may succeed. */
    static final int NO_PERMITS = 75;

    /** EX_USAGE: a mistake of the caller. */
    static final int MISTAKE = 64;

    static final int LOST = 76;

    private static final Set<String> MISTAKES = Set.of("unknown-pool", "never-fits", "bad-request");

    private static final String KEY = "FAIRGATE_API_KEY";
    private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(10);

    @Option(names = "--pool", required = true, paramLabel = "NAME", description = "The pool.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private String pool;

    @Option(
            names = "--permits",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many permits. Default: ${DEFAULT-VALUE}.")
    private int permits;

    @Option(
            names = "--max-wait",
            paramLabel = "TIME",
            defaultValue = "1h",
            description = "How long to wait for them, such as 30s. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private String maxWait;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            defaultValue = "30s",
            description =
                    "How long the permits stay leased when this machine falls silent. The lease is extended while the command runs. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private String ttl;

    @Option(
            names = "--gateway",
            paramLabel = "URL",
            defaultValue = "http://localhost:8000",
            description = "The lease port of the gateway. Default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private URI gateway;

    @Option(
            names = "--tenant",
            paramLabel = "ID",
            description = "The tenant, in the header --header, from a machine from which the policy accepts it.")
    private @Nullable String tenant;

    @Option(
            names = "--header",
            paramLabel = "NAME",
            description = "The header of the tenant or of its key. Default: X-Tenant-Id, and X-Api-Key for a key.")
    private @Nullable String header;

    @Parameters(arity = "1..*", paramLabel = "COMMAND", description = "The command and its arguments.")
    @SuppressWarnings("NullAway.Init") // by picocli
    private List<String> words;

    @Spec
    @SuppressWarnings("NullAway.Init") // by picocli
    private CommandSpec command;

    @Override
    public Integer call() throws InterruptedException {
        LeaseOptions options;
        LeaseClientSettings settings;
        try {
            options = LeaseOptions.of(pool, permits)
                    .withTtl(time("--ttl", ttl))
                    .withMaxWait(time("--max-wait", maxWait))
                    .withHolder(holder());
            settings = settings();
            requireLeasePort();
        } catch (IllegalArgumentException e) {
            return fail(2, String.valueOf(e.getMessage()));
        } catch (IOException e) {
            return fail(
                    NO_PERMITS,
                    "%s: %s (expected: the lease port of a gateway that was started with --fairgate.leases.enabled=true)"
                            .formatted(gateway, e.getMessage() == null ? "no connection" : e.getMessage()));
        }
        try (LeaseClient client = LeaseClient.to(settings)) {
            return new LeasedCommand(client, options, words).run();
        } catch (LeaseException e) {
            return fail(
                    isMistake(e) ? MISTAKE : NO_PERMITS,
                    "%s: no permits of %s: %s: %s"
                            .formatted(gateway, pool, Table.text(e.reason()), Table.text(e.detail())));
        } catch (LeasedCommand.NotStartedException e) {
            return fail(127, String.valueOf(e.getMessage()));
        } catch (LeasedCommand.LostException e) {
            return fail(LOST, "%s: the lease was lost, so the command was ended".formatted(pool));
        }
    }

    /** Whether the gateway says that the same call cannot succeed later. Other refusals, and those of a proxy, may be over soon. */
    private static boolean isMistake(LeaseException e) {
        boolean isOfGateway = !e.reason().startsWith("http-");
        return MISTAKES.contains(e.reason()) || (isOfGateway && (e.status() == 401 || e.status() == 403));
    }

    /** The client repeats its calls for as long as it may wait, so a wrong URL would show only then. */
    private void requireLeasePort() throws IOException, InterruptedException {
        HttpResponse<String> described = HttpClient.newBuilder()
                .connectTimeout(ANSWERS_WITHIN)
                .build()
                .send(
                        HttpRequest.newBuilder(gateway.resolve("/v1/openapi.json"))
                                .timeout(ANSWERS_WITHIN)
                                .build(),
                        BodyHandlers.ofString());
        if (described.statusCode() != 200 || !described.body().contains("/v1/pools/")) {
            throw new IOException("status " + described.statusCode());
        }
    }

    private static Duration time(String option, String text) {
        Duration time = DurationText.parse(text);
        if (time == null) {
            throw new IllegalArgumentException("%s: %s (expected: %s)".formatted(option, text, DurationText.EXPECTED));
        }
        return time;
    }

    private LeaseClientSettings settings() {
        LeaseClientSettings settings = LeaseClientSettings.at(gateway);
        String key = System.getenv(KEY);
        if (tenant != null) {
            String named = tenant;
            return settings.withCredential(header == null ? "X-Tenant-Id" : header, () -> named);
        } else if (key != null) {
            return settings.withCredential(header == null ? "X-Api-Key" : header, () -> key);
        }
        throw new IllegalArgumentException(
                "no tenant (expected: --tenant, or a key in the environment variable %s)".formatted(KEY));
    }

    /** The name of the command and the process, in characters that a holder may have. */
    private String holder() {
        String name = words.get(0).replaceFirst(".*/", "").replaceAll("[^A-Za-z0-9._-]", "_");
        return "%.40s-%d".formatted(name, ProcessHandle.current().pid());
    }

    private int fail(int exitCode, String message) {
        command.commandLine().getErr().println(message);
        return exitCode;
    }
}

package io.fairgate.gateway.cli;

import io.fairgate.gateway.http.HttpListener;
import io.fairgate.gateway.log.StderrLog;
import io.fairgate.gateway.start.Version;
import io.fairgate.gateway.throttle.Rehearsal;
import io.fairgate.gateway.throttle.ThrottleFile;
import io.fairgate.gateway.throttle.ThrottleServer;
import io.fairgate.gateway.throttle.ThrottleSettings;
import io.fairgate.time.MonotonicScheduler;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import reactor.netty.ChannelBindException;

/**
 * {@code throttle}: replaces the throttle server, with the same options and the same file. It has no application context,
 * because it must answer soon after its start.
 */
@Command(
        name = ThrottleCommand.NAME,
        description = "Serves the throttle protocol, as a drop-in replacement for the throttle server.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class ThrottleCommand implements Callable<Integer> {

    public static final String NAME = "throttle";

    private static final int HIGHEST_PORT = 65_535;
    /** Whether Netty reports its buffers to Java's flight recorder; loading the classes for that takes a fifth of the start. */
    private static final String NETTY_FLIGHT_RECORDER = "io.netty.jfr.enabled";

    @Option(
            names = {"-c", "--configuration"},
            paramLabel = "PATH",
            defaultValue = "throttle.toml",
            description = "A TOML file with the semaphores (default: ${DEFAULT-VALUE}).")
    private @Nullable Path configuration;

    @Option(
            names = "--address",
            paramLabel = "ADDRESS",
            defaultValue = "127.0.0.1",
            description = "The address to bind (default: ${DEFAULT-VALUE}).")
    private String address = "";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8000",
            description = "The port to bind, 0 for any free port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Spec
    private CommandSpec command;

    private static volatile @Nullable Thread loading;

    /** Makes this process ready to serve on a thread of its own, while the options and the file are read. */
    public static void loadAhead() {
        if (System.getProperty(NETTY_FLIGHT_RECORDER) == null) {
            System.setProperty(NETTY_FLIGHT_RECORDER, "false");
        }
        Thread loader = new Thread(
                () -> {
                    StderrLog.load();
                    HttpListener.load();
                    Rehearsal.run();
                },
                "fairgate-load-ahead");
        loader.setDaemon(true);
        loader.start();
        loading = loader;
    }

    /** Returns only when it cannot serve; otherwise it runs until a signal ends the process. */
    @Override
    public Integer call() throws InterruptedException {
        ThrottleFile file = file();
        if (file == null) {
            return 1;
        }
        log(file, System.getenv("THROTTLE_LOG"));
        InetSocketAddress where = where();
        if (where == null) {
            return 1;
        }
        AtomicReference<@Nullable ThrottleServer> started = new AtomicReference<>();
        Thread atSignal = new Thread(() -> end(started.get()));
        Runtime.getRuntime().addShutdownHook(atSignal);
        Thread loader = loading;
        if (loader != null) {
            loader.join(); // Once the port is open, clients want their answers at once.
        }
        ThrottleServer server = server(file, where);
        if (server == null) {
            Runtime.getRuntime().removeShutdownHook(atSignal);
            return 1;
        }
        started.set(server);
        PrintWriter out = command.commandLine().getOut();
        out.printf(
                "throttle: %d semaphores, on port %d of %s%n", file.semaphores().size(), server.port(), address);
        out.flush();
        new CountDownLatch(1).await();
        return 0;
    }

    /** An unknown level is reported, and does not prevent the start. */
    private void log(ThrottleFile file, @Nullable String fromEnvironment) {
        boolean isSet = fromEnvironment != null && !fromEnvironment.isEmpty();
        String level = isSet ? fromEnvironment : file.logLevel();
        String mistake = level == null ? null : StderrLog.mistake(level);
        if (mistake != null) {
            command.commandLine()
                    .getErr()
                    .printf(
                            "%s: %s; WARN is used.%n",
                            isSet ? "THROTTLE_LOG" : configuration + ": logging.stderr.level", mistake);
        }
        StderrLog.from(level);
    }

    /** Only halting makes the exit code 0: the JVM has chosen 128 + signal by then. */
    private static void end(@Nullable ThrottleServer server) {
        if (server != null) {
            server.end();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Null when the file cannot be read; the error has been printed. Without a file, the empty configuration. */
    private @Nullable ThrottleFile file() {
        PrintWriter err = command.commandLine().getErr();
        Path path = Objects.requireNonNull(configuration, "configuration");
        try {
            return ThrottleFile.read(path);
        } catch (NoSuchFileException missing) {
            err.printf("%s not found => Using empty default configuration.%n", path);
            return ThrottleFile.EMPTY;
        } catch (ThrottleFile.InvalidException invalid) {
            err.println(invalid.in(path.toString()));
        } catch (IOException unreadable) {
            err.printf("%s cannot be read (expected: a text file): %s%n", path, unreadable.getMessage());
        }
        return null;
    }

    /** Null when there can be no such address; the error has been printed. */
    private @Nullable InetSocketAddress where() {
        PrintWriter err = command.commandLine().getErr();
        if (port < 0 || port > HIGHEST_PORT) {
            err.printf("--port: %d (expected: 0 to %d)%n", port, HIGHEST_PORT);
            return null;
        }
        InetSocketAddress where = new InetSocketAddress(address, port);
        if (where.isUnresolved()) {
            err.printf("--address: %s (expected: an address of this machine)%n", address);
            return null;
        }
        return where;
    }

    /** Null when it cannot listen; the error has been printed. */
    private @Nullable ThrottleServer server(ThrottleFile file, InetSocketAddress where) {
        try {
            return ThrottleServer.start(file, ThrottleSettings.STANDARD, where, MonotonicScheduler.INSTANCE);
        } catch (ChannelBindException taken) {
            command.commandLine()
                    .getErr()
                    .printf(
                            "Cannot bind %s:%d (address in use or not available). Stop the other process, or use --port or --address.%n",
                            address, port);
            return null;
        }
    }
}

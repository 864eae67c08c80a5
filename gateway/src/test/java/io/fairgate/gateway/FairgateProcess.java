package io.fairgate.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The program as its users run it: {@code java -jar fairgate.jar …} in a process of its own, on free ports. A test may
 * start several.
 *
 * <p>No process outlives the tests: it is killed after its test, when this JVM ends, and, where {@code setpriv} exists
 * (Linux), by the kernel when this JVM is killed. The kernel watches the thread that started it, which for a test is
 * the one that lives as long as the JVM.
 */
final class FairgateProcess implements AfterEachCallback {

    /** Free ports on loopback, and no grace time at the end; more options may follow. */
    static final List<String> FREE_PORTS = List.of(
            "--server.address=127.0.0.1",
            "--server.port=0",
            "--management.server.port=0",
            "--fairgate.shutdown-grace=0s");

    private static final Pattern SERVES = Pattern.compile("serves on port (\\d+), management on port (\\d+)");
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");
    private static final Set<Process> ALIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> ALIVE.forEach(Process::destroyForcibly)));
    }

    private final List<Started> started = new ArrayList<>();
    private @Nullable Path libraries;

    /** Runs it with the jars of a folder on its class path from now on. */
    FairgateProcess withLibraries(Path folder) {
        libraries = folder;
        return this;
    }

    /** Runs it in a folder with these variables added to the environment. */
    Started start(Path folder, Map<String, String> environment, String... args) {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(SETPRIV)) {
            command.addAll(List.of(SETPRIV.toString(), "--pdeathsig", "KILL"));
        }
        String jar = Objects.requireNonNull(System.getProperty("fairgate.jar"), "-Dfairgate.jar");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        command.addAll(List.of(java, "-Xmx256m", "-XX:TieredStopAtLevel=1"));
        command.addAll(
                libraries == null
                        ? List.of("-jar", jar)
                        : List.of("-cp", jar + File.pathSeparator + libraries.resolve("*"), Fairgate.class.getName()));
        command.addAll(Arrays.asList(args));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().remove("FAIRGATE_CONFIG");
        builder.environment().putAll(environment);
        Path out = folder.resolve("." + started.size() + ".out");
        Path err = folder.resolve("." + started.size() + ".err");
        builder.redirectOutput(out.toFile()).redirectError(err.toFile());
        try {
            Started process = new Started(builder.start(), out, err);
            ALIVE.add(process.process());
            started.add(process);
            return process;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Started start(Path folder, String... args) {
        return start(folder, Map.of(), args);
    }

    /** {@code serve} with this policy, which is written to {@code fairgate.yml} in the folder. An option replaces the usual one of its name. */
    Started serve(Path folder, String policy, String... options) throws IOException {
        Files.writeString(folder.resolve("fairgate.yml"), policy);
        List<String> args = new ArrayList<>(FREE_PORTS);
        args.removeIf(usual -> Arrays.stream(options)
                .anyMatch(option -> option.startsWith(usual.substring(0, usual.indexOf('=') + 1))));
        args.addAll(Arrays.asList(options));
        return start(folder, args.toArray(String[]::new));
    }

    @Override
    public void afterEach(ExtensionContext context) throws InterruptedException {
        killAll();
    }

    /** For processes that serve more than one test, and so are no extension of it. */
    void killAll() throws InterruptedException {
        for (Started process : started) {
            process.kill();
        }
    }

    /** A process, and the files that it writes to. */
    record Started(Process process, Path outFile, Path errFile) {

        String out() {
            return read(outFile);
        }

        String err() {
            return read(errFile);
        }

        private static String read(Path file) {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Waits until its output has this; fails early when it has ended without. */
        Matcher awaitOutput(Pattern pattern) {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(3))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> find(pattern) != null || !process.isAlive());
            Matcher found = find(pattern);
            assertThat(found)
                    .as("%s in the output:%n%s%n%s", pattern, out(), err())
                    .isNotNull();
            return Objects.requireNonNull(found);
        }

        private @Nullable Matcher find(Pattern pattern) {
            Matcher matcher = pattern.matcher(out());
            return matcher.find() ? matcher : null;
        }

        int port() {
            return Integer.parseInt(awaitOutput(SERVES).group(1));
        }

        int managementPort() {
            return Integer.parseInt(awaitOutput(SERVES).group(2));
        }

        /** Sends SIGTERM. */
        Started terminate() {
            process.destroy();
            return this;
        }

        Started signal(String name) throws Exception {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
            return this;
        }

        /** Whether a shell that started the tests in the background made them deaf to SIGINT, which is inherited. */
        boolean ignoresInterrupt() throws IOException {
            return Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")).stream()
                    .filter(line -> line.startsWith("SigIgn:"))
                    .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).trim(), 16) & 2) != 0);
        }

        boolean isAlive() {
            return process.isAlive();
        }

        /** Waits until it has ended. */
        int awaitExit() throws InterruptedException {
            assertThat(process.waitFor(3, TimeUnit.MINUTES))
                    .as("has ended; it wrote:%n%s%n%s", out(), err())
                    .isTrue();
            return process.exitValue();
        }

        private void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
            ALIVE.remove(process);
        }
    }
}

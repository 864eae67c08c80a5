package io.fairgate.benchmarks.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A program in its own process, with its processor time. It ends with this JVM. */
public final class MeasuredProcess implements AutoCloseable {

    private static final Path OWN_JDK = Path.of(System.getProperty("java.home"));

    private final Process process;
    private final BufferedReader output;

    /** Starts a program. */
    public MeasuredProcess(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts a JVM of the version that this one has. */
    public static MeasuredProcess java(List<String> arguments) throws IOException {
        return java(OWN_JDK, arguments);
    }

    /** Starts the JVM of a JDK with this home. */
    public static MeasuredProcess java(Path jdk, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(tool(jdk, "java"));
        command.addAll(arguments);
        return new MeasuredProcess(command);
    }

    private static String tool(Path jdk, String name) {
        return jdk.resolve("bin").resolve(name).toString();
    }

    /** Waits for the line that says that the program runs; later output is read and discarded. */
    public Matcher await(Pattern line) throws IOException {
        StringBuilder all = new StringBuilder();
        for (String next = output.readLine(); next != null; next = output.readLine()) {
            Matcher matcher = line.matcher(next);
            if (matcher.find()) {
                drain();
                return matcher;
            }
            all.append(next).append('\n');
        }
        throw new IllegalStateException("ended without \"%s\":%n%s".formatted(line, all));
    }

    private void drain() {
        Thread reader = new Thread(
                () -> {
                    try {
                        output.transferTo(Writer.nullWriter());
                    } catch (IOException ended) {
                        // The process has ended.
                    }
                },
                "output");
        reader.setDaemon(true);
        reader.start();
    }

    /** The processor time of all its threads since the start. */
    public Duration used() {
        return process.toHandle().info().totalCpuDuration().orElseThrow();
    }

    /** Runs a full collection in a JVM, and returns when it is complete. */
    public void collectGarbage() throws IOException {
        String output = output(tool(OWN_JDK, "jcmd"), Long.toString(process.pid()), "GC.run");
        if (!output.contains("Command executed successfully")) {
            throw new IOException("jcmd: " + output);
        }
    }

    /** The physical memory that it has, heap and all else. */
    public long residentBytes() throws IOException {
        String kilobytes =
                output("ps", "-o", "rss=", "-p", Long.toString(process.pid())).trim();
        if (kilobytes.isEmpty()) {
            throw new IllegalStateException("process %d has ended".formatted(process.pid()));
        }
        return Long.parseLong(kilobytes) << 10;
    }

    private static String output(String... command) throws IOException {
        Process started = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

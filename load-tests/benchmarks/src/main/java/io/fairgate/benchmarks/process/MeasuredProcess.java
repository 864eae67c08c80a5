package io.fairgate.benchmarks.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A program in its own process, with its processor time. It ends with this JVM. */
public final class MeasuredProcess implements AutoCloseable {

    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");

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
        List<String> command = new ArrayList<>();
        command.add(tool("java"));
        command.addAll(arguments);
        return new MeasuredProcess(command);
    }

    private static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
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

    /** The memory that the process occupies, in megabytes. Not a number where the system does not say. */
    public double residentMegabytes() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.isReadable(status)) {
            return Double.NaN;
        }
        return Files.readAllLines(status).stream()
                .map(RESIDENT::matcher)
                .filter(Matcher::matches)
                .mapToDouble(line -> Long.parseLong(line.group(1)) / 1024.0)
                .findFirst()
                .orElse(Double.NaN);
    }

    /** Runs a full collection in a JVM, and returns when it is complete. */
    public void collectGarbage() throws IOException {
        Process jcmd = new ProcessBuilder(tool("jcmd"), Long.toString(process.pid()), "GC.run")
                .redirectErrorStream(true)
                .start();
        String output = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!output.contains("Command executed successfully")) {
            throw new IOException("jcmd: " + output);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

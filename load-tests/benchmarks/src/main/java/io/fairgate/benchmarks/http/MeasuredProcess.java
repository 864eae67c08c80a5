package io.fairgate.benchmarks.http;

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

/** A Java program in its own process, with its processor time. */
final class MeasuredProcess implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;

    MeasuredProcess(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(arguments);
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Waits for the line that says that the program runs; later output is read and discarded. */
    Matcher await(Pattern line) throws IOException {
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
    Duration used() {
        return process.toHandle().info().totalCpuDuration().orElseThrow();
    }

    /** Runs a full collection, and returns when it is complete. */
    void collectGarbage() throws IOException {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(process.pid()),
                        "GC.run")
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

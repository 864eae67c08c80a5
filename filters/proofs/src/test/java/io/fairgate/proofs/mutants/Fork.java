package io.fairgate.proofs.mutants;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs proofs in new JVMs, in which the pool is a mutant.
 *
 * @param directory contains the mutant's classes, which come first in the class path; all output goes there too
 */
record Fork(Path directory) {

    static final String CLASSES = "classes";

    /** More than in the ordinary build: a red scenario ends long before all orders are tried. */
    private static final int ORDERS = 1000;

    private static final Duration AT_MOST = Duration.ofMinutes(5);

    /** The most runs of a stress test that stays green: it needs luck, more so on a busy machine. */
    private static final int TRIES = 4;

    /** Returns the red scenarios. */
    List<String> redScenarios(List<String> scenarios) {
        List<String> command = new ArrayList<>(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+EnableDynamicAgentLoading",
                "-Dlincheck.logLevel=ERROR",
                "-Dfairgate.orders=" + ORDERS,
                ModelCheckRun.class.getName()));
        command.addAll(scenarios);
        List<String> said = said("scenarios", command);
        if (said.stream().filter(line -> line.matches("(red|green): .*")).count() != scenarios.size()) {
            throw new IllegalStateException("not all were run: " + String.join("\n", said));
        }
        return said.stream()
                .filter(line -> line.startsWith("red: "))
                .map(line -> line.substring("red: ".length()))
                .toList();
    }

    /** Returns the names of the stress tests that are red in at least one run. */
    List<String> redStressTests(List<String> tests) {
        Set<String> red = new LinkedHashSet<>();
        for (int tried = 0; tried < TRIES && red.size() < tests.size(); tried++) {
            red.addAll(redInOneRun(
                    tests.stream().filter(test -> !red.contains(test)).toList()));
        }
        return List.copyOf(red);
    }

    private List<String> redInOneRun(List<String> tests) {
        List<String> said = said("stress", StressTests.command(tests, directory.resolve("report")));
        if (said.stream().noneMatch(line -> line.startsWith("RUN RESULTS"))) {
            throw new IllegalStateException("not all were run: " + String.join("\n", said));
        }
        return tests.stream()
                .filter(test -> said.stream().anyMatch(line -> line.matches(".*\\[FAILED] .*\\." + test)))
                .toList();
    }

    /** Returns the output of a JVM, which is also kept in a file beside the classes. */
    private List<String> said(String name, List<String> command) {
        Path log = directory.resolve(name + ".txt");
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String classPath = directory.resolve(CLASSES)
                + System.getProperty("path.separator")
                + System.getProperty("java.class.path");
        try {
            Process process = new ProcessBuilder(
                            Stream.concat(Stream.of(java.toString(), "-classpath", classPath), command.stream())
                                    .toList())
                    // jcstress writes its files to the working directory.
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                if (!process.waitFor(AT_MOST.toSeconds(), TimeUnit.SECONDS)) {
                    throw new IllegalStateException("took longer than " + AT_MOST + ": see " + log);
                }
            } finally {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            return Files.readAllLines(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}

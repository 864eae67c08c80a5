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
 * Proofs in JVMs of their own, in which the pool is a mutant.
 *
 * @param directory has the classes that stand before all others, and is where everything else goes
 */
record Fork(Path directory) {

    static final String CLASSES = "classes";

    /** More than else: what is red is so before all have been tried. */
    private static final int ORDERS = 1000;

    private static final Duration AT_MOST = Duration.ofMinutes(5);

    /** How often a stress test is run that stays green: it needs luck, and a busy machine has less of it. */
    private static final int TRIES = 4;

    /** Those of the scenarios that are red. */
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

    /** Those of the stress tests, named by their classes, that are red in one of some runs. */
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

    /** What a JVM says, which is also kept in a file beside the classes. */
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
                    // What jcstress keeps, it keeps where it is.
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

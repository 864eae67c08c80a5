package io.fairgate.benchmarks.start;

import io.fairgate.benchmarks.load.UpstreamProcess;
import io.fairgate.benchmarks.process.MeasuredProcess;
import io.fairgate.benchmarks.process.OtherPrograms;
import io.fairgate.benchmarks.report.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Measures how soon a program answers after its start. Writes {@code docs/reports/start-time.md}.
 *
 * <p>The programs start one after the other in each round, so that what disturbs a round disturbs all of them.
 */
public final class StartTime {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration LONGEST = Duration.ofMinutes(3);

    private StartTime() {}

    /**
     * Measures everything.
     *
     * @param args the jar of Fairgate, a folder for files of the run, the folder for the report
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path jar = Path.of(args[0]).toRealPath();
        Path folder = Files.createDirectories(Path.of(args[1])).toRealPath();
        boolean isQuick = Boolean.getBoolean("fairgate.quick");
        int rounds = isQuick ? 1 : Integer.getInteger("fairgate.rounds", 7);
        Optional<Path> jdk25 = Optional.of(System.getProperty("fairgate.jdk25", ""))
                .filter(home -> !home.isBlank())
                .map(Path::of);
        String machine = Machine.describe();
        try (UpstreamProcess upstream = new UpstreamProcess()) {
            List<Starter> starters =
                    new Starters(jar, folder, upstream.port()).all(Path.of(System.getProperty("java.home")), jdk25);
            StartTimeReport report = new StartTimeReport(machine, rounds);
            for (int round = 1; round <= rounds; round++) {
                for (Starter starter : starters) {
                    StartSample sample = measure(starter, upstream, isQuick);
                    report.add(starter, sample);
                    System.out.printf("round %d: %s: %s%n", round, starter.name(), sample);
                }
            }
            Path target = isQuick ? folder : Files.createDirectories(Path.of(args[2]));
            Files.writeString(target.resolve("start-time.md"), report.text());
            System.out.println(report.text());
        }
    }

    private static StartSample measure(Starter starter, UpstreamProcess upstream, boolean isQuick)
            throws IOException, InterruptedException {
        OtherPrograms before = new OtherPrograms(upstream::used);
        if (!isQuick) {
            before.awaitQuiet(PATIENCE);
        }
        int port = FirstAnswer.freePort();
        long began = System.nanoTime();
        try (MeasuredProcess process = new MeasuredProcess(starter.command(port))) {
            OtherPrograms others = new OtherPrograms(() -> upstream.used().plus(process.used()));
            FirstAnswer.await(port, starter.path(), LONGEST);
            double seconds = (System.nanoTime() - began) / 1e9;
            return new StartSample(seconds, process.used().toNanos() / 1e9, others.processors());
        }
    }
}

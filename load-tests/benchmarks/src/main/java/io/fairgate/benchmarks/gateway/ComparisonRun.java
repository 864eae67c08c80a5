package io.fairgate.benchmarks.gateway;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Measures gateways in rounds, so that what disturbs one of them disturbs the others as well.
 *
 * @param jar of Fairgate
 * @param folder for files of the run
 */
record ComparisonRun(Path jar, Path folder, Schedule schedule) {

    /** A measurement with more, in processors of other programs, is repeated. */
    static final double DISTURBED = 0.3;

    static final int ATTEMPTS = 3;

    /** What was measured. */
    interface Sample {

        /** The processors that other programs of the machine used meanwhile. */
        double others();
    }

    /** What is done with each gateway. */
    interface Measurement<T extends Sample> {

        /** Sends requests, so that the gateway is compiled before it is measured. */
        void warmUp(RunningPeer peer) throws IOException;

        /** Measures once. */
        T measure(RunningPeers peers, RunningPeer peer) throws IOException, InterruptedException;
    }

    /** For the arguments of a program: the jar of Fairgate, and the folder for files of the run. */
    static ComparisonRun of(String[] args) throws IOException {
        Path jar = Path.of(args[0]).toAbsolutePath().normalize();
        if (!Files.isRegularFile(jar)) {
            throw new FileNotFoundException(
                    jar + ": no such file (expected: the jar of Fairgate, which `mvn -q -DskipTests package` builds)");
        }
        return new ComparisonRun(jar, Files.createDirectories(Path.of(args[1])), Schedule.fromProperties());
    }

    <T extends Sample> Samples<T> measure(List<Peer> all, Measurement<T> measurement)
            throws IOException, InterruptedException {
        Samples<T> samples = new Samples<>();
        for (int fork = 1; fork <= schedule.forks(); fork++) {
            try (RunningPeers peers = new RunningPeers(all, new Surroundings(jar, folder))) {
                samples.withoutRedis(peers.surroundings().withoutRedis());
                warmUp(peers, measurement);
                for (int round = 1; round <= schedule.rounds(); round++) {
                    for (RunningPeer peer : peers.all()) {
                        T sample = measure(peers, peer, measurement);
                        samples.add(peer.peer(), sample);
                        System.out.printf("start %d, round %d: %s: %s%n", fork, round, peer.peer(), sample);
                    }
                }
            }
        }
        return samples;
    }

    private <T extends Sample> T measure(RunningPeers peers, RunningPeer peer, Measurement<T> measurement)
            throws IOException, InterruptedException {
        if (schedule.isQuick()) {
            return measurement.measure(peers, peer);
        }
        return leastDisturbed(() -> {
            peers.awaitQuiet();
            return measurement.measure(peers, peer);
        });
    }

    /** One of several attempts. */
    interface Attempt<T> {

        T measure() throws IOException, InterruptedException;
    }

    /** Judges a measurement by what disturbs it, and not by its result. */
    static <T extends Sample> T leastDisturbed(Attempt<T> attempt) throws IOException, InterruptedException {
        T least = attempt.measure();
        for (int i = 1; i < ATTEMPTS && least.others() > DISTURBED; i++) {
            T next = attempt.measure();
            least = next.others() < least.others() ? next : least;
        }
        return least;
    }

    /** In turns, so that the compiler of one gateway may work while the others get requests. */
    private void warmUp(RunningPeers peers, Measurement<?> measurement) throws IOException {
        for (int turn = 1; turn <= schedule.warmUps(); turn++) {
            for (RunningPeer peer : peers.all()) {
                long before = peer.used().toNanos();
                measurement.warmUp(peer);
                double nanos = peer.used().toNanos() - before;
                System.out.printf(
                        "warm-up %d: %s: %.1f µs%n", turn, peer.peer(), nanos / 1e3 / schedule.warmUpRequests());
            }
        }
    }

    /** Writes the report: that of a quick run into the folder of the run, so that it cannot replace a published one. */
    void publish(Path published, String name, String page, String picture) throws IOException {
        Path target = Files.createDirectories(schedule.isQuick() ? folder : published);
        Files.writeString(target.resolve(name + ".md"), page);
        Files.writeString(target.resolve(name + ".svg"), picture);
        System.out.println(page);
    }
}

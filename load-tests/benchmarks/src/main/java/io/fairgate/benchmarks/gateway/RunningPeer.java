package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.process.GcLog;
import io.fairgate.benchmarks.process.MeasuredProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;

/** A gateway in its own process. */
final class RunningPeer implements AutoCloseable {

    private static final List<String> HEAP = List.of("-Xms512m", "-Xmx512m");

    private final Peer peer;
    private final GcLog log;
    private final MeasuredProcess process;
    private final Matcher ports;

    RunningPeer(Peer peer, Surroundings surroundings) throws IOException {
        this.peer = peer;
        Path file = surroundings.folder().resolve(peer.id() + "-gc.log");
        Files.deleteIfExists(file);
        log = new GcLog(file);
        List<String> arguments = new ArrayList<>(HEAP);
        arguments.add(log.option());
        arguments.addAll(peer.arguments().apply(surroundings));
        process = peer.jdk().isPresent()
                ? MeasuredProcess.java(peer.jdk().get(), arguments)
                : MeasuredProcess.java(arguments);
        ports = process.await(peer.listens());
    }

    Peer peer() {
        return peer;
    }

    int port() {
        return Integer.parseInt(ports.group(1));
    }

    /** Only of a Fairgate. */
    int managementPort() {
        return Integer.parseInt(ports.group(2));
    }

    Duration used() {
        return process.used();
    }

    double residentMegabytes() throws IOException {
        return process.residentBytes() / (double) (1 << 20);
    }

    /** Collects all garbage, and returns what {@link #allocatedBytes} takes. */
    int beginAllocations() throws IOException {
        process.collectGarbage();
        return log.collections();
    }

    /** The bytes that were allocated since then. */
    double allocatedBytes(int begin) throws IOException {
        process.collectGarbage();
        return log.allocatedBytes(begin);
    }

    @Override
    public void close() {
        process.close();
    }
}

package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.process.OtherPrograms;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** All gateways of a comparison, and what they need beside them. All of them run; one at a time has something to do. */
final class RunningPeers implements AutoCloseable {

    /** How long a measurement waits for other programs of the machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Surroundings surroundings;
    private final List<RunningPeer> peers = new ArrayList<>();
    private final OtherPrograms others;

    RunningPeers(List<Peer> all, Surroundings surroundings) throws IOException {
        this.surroundings = surroundings;
        for (Peer peer : all) {
            if (!peer.needsRedis() || surroundings.redis().isPresent()) {
                peers.add(new RunningPeer(peer, surroundings));
            }
        }
        others = new OtherPrograms(this::used);
    }

    private Duration used() {
        return peers.stream().map(RunningPeer::used).reduce(surroundings.used(), Duration::plus);
    }

    List<RunningPeer> all() {
        return List.copyOf(peers);
    }

    Surroundings surroundings() {
        return surroundings;
    }

    /** Waits, for a while, until the other programs of the machine have little to do. */
    void awaitQuiet() {
        others.awaitQuiet(PATIENCE);
    }

    /** The processors that other programs have used on average since the last call. */
    double otherProcessors() {
        return others.processors();
    }

    @Override
    public void close() {
        peers.forEach(RunningPeer::close);
        surroundings.close();
    }
}

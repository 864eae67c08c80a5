package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.ComparisonRun.Measurement;
import io.fairgate.benchmarks.gateway.RefusalCost.RefusalSample;
import io.fairgate.benchmarks.gateway.RefusalCost.RequestCost;
import io.fairgate.benchmarks.http.RefusedTraffic;
import io.fairgate.benchmarks.load.LoadClient;
import java.io.IOException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Measures all kinds of requests of a server, one after the other. */
final class RefusalMeasurement implements Measurement<RefusalSample>, AutoCloseable {

    private final LoadClient client = new LoadClient();
    private final Map<RunningPeer, RefusedTraffic> prepared = new HashMap<>();
    private final Schedule schedule;

    RefusalMeasurement(Schedule schedule) {
        this.schedule = schedule;
    }

    @Override
    public void warmUp(RunningPeer peer) throws IOException {
        List<RequestKind> kinds = RefusalCost.kinds(peer.peer());
        if (kinds.contains(RequestKind.QUOTA_USED_UP) && !prepared.containsKey(peer)) {
            prepared.put(peer, new RefusedTraffic(peer.port(), peer.managementPort()));
        }
        for (RequestKind kind : kinds) {
            client.run(kind.times(schedule.warmUpRequests() / kinds.size(), peer.port()));
        }
    }

    @Override
    public RefusalSample measure(RunningPeers peers, RunningPeer peer) throws IOException {
        Map<RequestKind, RequestCost> costs = new EnumMap<>(RequestKind.class);
        double others = 0;
        for (RequestKind kind : RefusalCost.kinds(peer.peer())) {
            int begin = peer.beginAllocations();
            peers.otherProcessors();
            Duration before = peer.used();
            double answered = client.run(kind.during(schedule, peer.port())).answered();
            others = Math.max(others, peers.otherProcessors());
            Duration used = peer.used().minus(before);
            costs.put(kind, new RequestCost(used.toNanos() / answered, peer.allocatedBytes(begin) / answered));
        }
        return new RefusalSample(costs, others);
    }

    @Override
    public void close() {
        prepared.values().forEach(RefusedTraffic::close);
        client.close();
    }
}

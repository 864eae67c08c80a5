package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.RefusalCost.Compared;
import io.fairgate.benchmarks.gateway.RefusalCost.RefusalSample;

record RefusalCostReport(String machine, Schedule schedule, Compared compared, Samples<RefusalSample> samples) {
    String text() {
        StringBuilder s = new StringBuilder();
        for (Peer peer : compared.all()) {
            for (RefusalCost.Kind kind : compared.kinds(peer)) {
                s.append("%s %s: %.1f us %.2f kB; of own forwarded %s; of SCG %s; of reactor netty %s%n".formatted(peer.id(), kind,
                    samples.spread(peer, x -> x.of(kind).nanos()).median() / 1e3,
                    samples.spread(peer, x -> x.of(kind).bytes()).median() / 1024,
                    samples.ratios(peer, x -> x.of(kind).nanos(), compared.few(), x -> x.of(RefusalCost.Kind.FORWARDED).nanos()),
                    samples.ratios(peer, x -> x.of(kind).nanos(), RefusalCost.BASE, x -> x.of(RefusalCost.Kind.FORWARDED).nanos()),
                    samples.ratios(peer, x -> x.of(kind).nanos(), RefusalCost.REACTOR_NETTY, x -> x.of(RefusalCost.Kind.QUEUE_FULL).nanos())));
            }
        }
        return s.toString();
    }
    String picture() { return ""; }
}

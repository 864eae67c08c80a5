package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.GatewayCost.CostSample;
import io.fairgate.benchmarks.report.BarChart;
import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/** {@code docs/reports/gateway-performance.md}. */
record GatewayCostReport(String machine, Schedule schedule, Samples<CostSample> samples) {

    private static final double KILOBYTE = 1024;

    /** Of plain SCG, in processor time. */
    private static final double WANTED = 0.8;

    private static final double LATER = 0.65;
    /** Of the processor time of the same gateway without Redis. */
    private static final double MOST_THROUGH_REDIS = 1.05;
    /** Of the processor time of Fairgate through Redis. */
    private static final double LEAST_OF_LIMITER = 1.5;

    private static final double WANTED_KILOBYTES = 28;
    private static final double LATER_KILOBYTES = 22;

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + TABLE
                + samples.rows(this::row)
                + BELOW_TABLE
                + redis()
                + samples.leftOut()
                + TARGETS
                + targets()
                + how()
                + samples.settings();
    }

    private static final String HEAD = """
            # Gateway performance

            What a request costs in Fairgate and in other gateways: processor time and allocated memory. Compare only
            the ratios, because only ratios hold on another machine. [gateway-isolation.md](gateway-isolation.md) says
            how well the same gateways protect one tenant from another, and
            [refusal-performance.md](refusal-performance.md) what a refused request costs.

            To run it again: `mvn -P gateway-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds
            Fairgate, measures, and rewrites this page and its picture. It takes about half an hour, on a machine that
            should have nothing else to do. With `-Dfairgate.quick=true` it takes two minutes, only shows that the
            comparison works, and writes to `load-tests/benchmarks/target/gateway-benchmarks`.

            ![Processor time and allocated memory of a request in each gateway](gateway-performance.svg)

            """;

    private static final String TABLE = """

            | gateway | processor time | relative to plain SCG | allocated | requests/s | p50 | p99 |
            |---|---|---|---|---|---|---|
            """;

    private String row(Peer peer) {
        return Formats.number(
                "| %s | %s | %s | %.1f kB | %,.0f | %.1f ms | %.1f ms |\n",
                peer.name(),
                Formats.time(samples.spread(peer, CostSample::nanos).median()),
                Formats.ratio(samples.ratios(peer, GatewayCost.BASE, CostSample::nanos)),
                kilobytes(peer),
                samples.spread(peer, CostSample::perSecond).median(),
                samples.spread(peer, CostSample::p50).median(),
                samples.spread(peer, CostSample::p99).median());
    }

    private static final String BELOW_TABLE = """

            Processor time and allocated memory are those of one request in the gateway. A relative time is the median
            of the ratios of all rounds; the lowest and the highest ratio are in parentheses. All other numbers are
            medians. p50 and p99 are the latencies that 50 % and 99 % of the requests do not exceed. SCG is Spring Cloud
            Gateway.
            """;

    private String redis() {
        return samples.peers().stream()
                .filter(Peer::needsRedis)
                .map(peer -> Formats.number(
                        "Redis itself used another %2$s for each request of *%1$s*.\n",
                        peer.name(),
                        Formats.time(
                                samples.spread(peer, CostSample::redisNanos).median())))
                .collect(Collectors.joining());
    }

    private static final String TARGETS = """

            ## Targets

            | target | measured | met |
            |---|---|---|
            """;

    private String targets() {
        Spread full = samples.ratios(GatewayCost.FULL, GatewayCost.BASE, CostSample::nanos);
        Spread plain = samples.ratios(GatewayCost.PLAIN, GatewayCost.FULL, CostSample::nanos);
        double kilobytes = kilobytes(GatewayCost.FULL);
        return target("Fairgate full needs at most the processor time of plain SCG", full, full.median() <= 1)
                + target(
                        Formats.number("Fairgate full needs at most %.2f of it", WANTED), full, full.median() <= WANTED)
                + target(
                        Formats.number("later: Fairgate full needs at most %.2f of it", LATER),
                        full,
                        full.median() <= LATER)
                + target(WANTED_KILOBYTES, "", kilobytes)
                + target(LATER_KILOBYTES, "later: ", kilobytes)
                + target("Fairgate plain needs less processor time than Fairgate full", plain, plain.median() < 1)
                + (samples.peers().contains(GatewayCost.ON_REDIS) ? targetsWithRedis() : "");
    }

    private String targetsWithRedis() {
        Spread shared = samples.ratios(GatewayCost.ON_REDIS, GatewayCost.FULL, CostSample::nanos);
        Spread limiter = samples.ratios(GatewayCost.REDIS_LIMITER, GatewayCost.ON_REDIS, CostSample::nanos);
        return target(
                        Formats.number(
                                "Fairgate full through Redis needs at most %.2f of Fairgate full", MOST_THROUGH_REDIS),
                        shared,
                        shared.median() <= MOST_THROUGH_REDIS)
                + target(
                        Formats.number(
                                "SCG with the Redis limiter needs at least %.1f of Fairgate full through Redis",
                                LEAST_OF_LIMITER),
                        limiter,
                        limiter.median() >= LEAST_OF_LIMITER);
    }

    private static String target(String target, Spread measured, boolean isMet) {
        return "| %s | %s | %s |\n".formatted(target, Formats.ratio(measured), Formats.verdict(isMet));
    }

    private static String target(double most, String when, double measured) {
        return Formats.number(
                "| %sFairgate full allocates at most %.0f kB for a request | %.1f kB | %s |\n",
                when, most, measured, Formats.verdict(measured <= most));
    }

    private static final String HOW = """

            ## How it is measured

            - Each gateway, the upstream, the load and Redis are processes of their own, on loopback ports. All gateways
              run at the same time, with a heap of 512 MB and the JVM's own choice of all else, and one at a time gets
              requests.
            - The load is a closed loop of %d connections: each sends the next request when the last one is answered.
              The requests are GET without a body, of %d tenants in turn. The upstream answers at once, with 64 bytes.
            - Number of starts of all gateways: %d. After each start, every gateway gets %s requests as a warm-up. Then
              come rounds, and each round measures every gateway for %d s, one after the other. Number of rounds after
              each start: %d.
            - The processor time is that of the gateway's process, as the operating system counts it. It includes the
              compiler and the garbage collector of its JVM.
            - The allocated memory is what the heap grows by between garbage collections, as the log of the JVM's
              collector says. Memory outside of the heap is not included.
            - Requests per second and latencies depend on what the machine has left: gateway, upstream and load share
              its processors, and all of these are busy.
            - While a gateway was measured, other programs of the machine used %.2f processors in the median, and at
              most %.2f. A measurement with more than %.1f is repeated, up to %d times, and the least disturbed one
              counts.

            ## How each gateway is configured

            Each has one route. No gateway refuses or delays a request here.

            """;

    private String how() {
        return schedule.describe(
                HOW, samples.all(CostSample::others), GatewayCost.CONNECTIONS, GatewayCost.TENANTS.size());
    }

    String picture() {
        Panel time = new Panel(
                "processor time of a request",
                "relative to plain SCG",
                "%.2f",
                samples.peers().stream()
                        .map(peer -> samples.ratios(peer, GatewayCost.BASE, CostSample::nanos))
                        .toList(),
                OptionalDouble.of(WANTED));
        Panel memory = new Panel(
                "allocated for a request",
                "kB",
                "%.1f",
                samples.spreads(sample -> sample.bytes() / KILOBYTE),
                OptionalDouble.of(WANTED_KILOBYTES));
        return new BarChart("What a request costs in a gateway", samples.chartRows(), List.of(time, memory)).svg();
    }

    private double kilobytes(Peer peer) {
        return samples.spread(peer, CostSample::bytes).median() / KILOBYTE;
    }
}

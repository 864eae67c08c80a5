package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.JvmCost.JvmSample;
import io.fairgate.benchmarks.report.BarChart;
import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.Formats;
import java.util.List;
import java.util.OptionalDouble;

/** {@code docs/reports/jvm-performance.md}. */
record JvmCostReport(String machine, Schedule schedule, Samples<JvmSample> samples) {

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + TABLE
                + samples.rows(this::row)
                + BELOW_TABLE
                + schedule.describe(
                        HOW, samples.all(JvmSample::others), GatewayCost.CONNECTIONS, GatewayCost.TENANTS.size())
                + samples.settings();
    }

    private static final String HEAD = """
            # Options of the JVM

            What a forwarded request costs in Fairgate with different collectors, heaps, numbers of event loops and JDKs.
            Compare only the ratios, because only ratios hold on another machine.
            [deploy.md](../deploy.md#options-of-the-jvm) says what to choose.

            To run it again: `mvn -P jvm-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds
            Fairgate, measures, and rewrites this page and its picture. It takes about half an hour, on a machine that
            should have nothing else to do. `-Dfairgate.jdk25=FOLDER`, the home of a JDK 25, adds the rows for JDK 25.
            With `-Dfairgate.quick=true` it takes two minutes, only shows that the comparison works, and writes to
            `load-tests/benchmarks/target/jvm-benchmarks`.

            ![Processor time and latency of a request with each option](jvm-performance.svg)

            """;

    private static final String TABLE = """

            | options | processor time | relative to the JVM's choice | requests/s | p50 | p99 | p99.9 | memory |
            |---|---|---|---|---|---|---|---|
            """;

    private String row(Peer peer) {
        return Formats.number(
                "| %s | %s | %s | %,.0f | %.1f ms | %.1f ms | %.1f ms | %.0f MB |\n",
                peer.name(),
                Formats.time(samples.spread(peer, JvmSample::nanos).median()),
                Formats.ratio(samples.ratios(peer, JvmCost.BASE, JvmSample::nanos)),
                samples.spread(peer, JvmSample::perSecond).median(),
                samples.spread(peer, JvmSample::p50).median(),
                samples.spread(peer, JvmSample::p99).median(),
                samples.spread(peer, JvmSample::p999).median(),
                samples.spread(peer, JvmSample::megabytes).median());
    }

    private static final String BELOW_TABLE = """

            The processor time is that of one request. A relative time is the median of the ratios of all rounds; the
            lowest and the highest ratio are in parentheses. All other numbers are medians. p50, p99 and p99.9 are the
            latencies that 50 %, 99 % and 99.9 % of the requests do not exceed. The memory is what the process has of
            the machine's memory after a measurement, with all that is not heap. ZGC of JDKs before 21 maps its heap
            several times, and each of them counts there.
            """;

    private static final String HOW = """

            ## How it is measured

            - Each gateway, the upstream and the load are processes of their own, on loopback ports. All gateways run at
              the same time, and one at a time gets requests.
            - The load is a closed loop of %d connections: each sends the next request when the last one is answered.
              The requests are GET without a body, of %d tenants in turn. The upstream answers at once, with 64 bytes.
            - Number of starts of all gateways: %d. After each start, every gateway gets %s requests as a warm-up. Then
              come rounds, and each round measures every gateway for %d s, one after the other. Number of rounds after
              each start: %d.
            - The processor time is that of the gateway's process, as the operating system counts it. It includes the
              compiler and the garbage collector of its JVM.
            - Requests per second and latencies depend on what the machine has left: gateway, upstream and load share
              its processors, and all of these are busy.
            - While a gateway was measured, other programs of the machine used %.2f processors in the median, and at
              most %.2f. A measurement with more than %.1f is repeated, up to %d times, and the least disturbed one
              counts.

            ## The options

            Each gateway is Fairgate with one route that has `FairShare`, and with two quotas for each tenant. No request
            is refused or delayed. Each has a heap of 512 MB and four event loops where nothing else is said.

            """;

    String picture() {
        Panel time = new Panel(
                "processor time of a request",
                "relative to the JVM's choice",
                "%.2f",
                samples.peers().stream()
                        .map(peer -> samples.ratios(peer, JvmCost.BASE, JvmSample::nanos))
                        .toList(),
                OptionalDouble.empty());
        Panel latency = new Panel(
                "latency that 99.9 % do not exceed",
                "ms", "%.1f", samples.spreads(JvmSample::p999), OptionalDouble.empty());
        return new BarChart("What a request costs with options of the JVM", samples.chartRows(), List.of(time, latency))
                .svg();
    }
}

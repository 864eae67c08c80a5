package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.Isolation.IsolationSample;
import io.fairgate.benchmarks.load.UpstreamProcess;
import io.fairgate.benchmarks.report.BarChart;
import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** {@code docs/reports/gateway-isolation.md}. */
record IsolationReport(String machine, Schedule schedule, Samples<IsolationSample> samples) {

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + quietHead()
                + samples.rows(this::quiet)
                + noisyHead()
                + samples.rows(this::noisy)
                + BELOW_TABLES
                + samples.leftOut()
                + how()
                + samples.settings();
    }

    private static final String HEAD = """
            # Gateway isolation

            What a tenant with few requests gets while another tenant sends far more than the upstream can answer: in
            Fairgate, and in other gateways. [gateway-performance.md](gateway-performance.md) says what a request costs
            in them.

            To run it again: `mvn -P isolation-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds
            Fairgate, measures, and rewrites this page and its picture. It takes about half an hour, on a machine that
            should have nothing else to do. With `-Dfairgate.quick=true` it takes two minutes, only shows that the
            comparison works, and writes to `load-tests/benchmarks/target/isolation-benchmarks`.

            ![Latency and requests of the quiet tenant, and use of the upstream, in each gateway](gateway-isolation.svg)

            """;

    private static final String QUIET = """

            ## The quiet tenant

            It has %d connections, each of which sends the next request when the last one is answered. That is half of
            its fair share of the upstream. *Alone* is the same while the noisy tenant sends nothing.

            | gateway | p50 | p95 | p99 | p50 alone | p99 alone | requests/s | compared with alone | refused/s |
            |---|---|---|---|---|---|---|---|---|
            """;

    private static String quietHead() {
        return Formats.number(QUIET, Isolation.QUIET_CONNECTIONS);
    }

    private String quiet(Peer peer) {
        return Formats.number(
                "| %s | %s | %s | %s | %s | %s | %.0f | %s | %.0f |\n",
                peer.name(),
                latency(peer, sample -> sample.quiet().p50()),
                latency(peer, sample -> sample.quiet().p95()),
                latency(peer, sample -> sample.quiet().p99()),
                latency(peer, sample -> sample.alone().p50()),
                latency(peer, sample -> sample.alone().p99()),
                median(peer, sample -> sample.quiet().perSecond()),
                percent(peer, IsolationSample::goodput),
                median(peer, sample -> sample.quiet().refusedPerSecond()));
    }

    private static final String NOISY = """

            ## The noisy tenant and the upstream

            The noisy tenant has %d connections of the same kind, ten times what the upstream can work on at a time.
            After a refusal, a connection waits 100 ms. *In the upstream* is the most requests at a time that were
            there, including those that waited there.

            | gateway | noisy requests/s | refused/s | use of the upstream's capacity | in the upstream |
            |---|---|---|---|---|
            """;

    private static String noisyHead() {
        return Formats.number(NOISY, Isolation.NOISY_CONNECTIONS);
    }

    private String noisy(Peer peer) {
        return Formats.number(
                "| %s | %.0f | %,.0f | %s | %.0f |\n",
                peer.name(),
                median(peer, sample -> sample.noisy().perSecond()),
                median(peer, sample -> sample.noisy().refusedPerSecond()),
                percent(peer, IsolationSample::utilisation),
                median(peer, IsolationSample::mostAtOnce));
    }

    private static final String BELOW_TABLES = """

            All numbers are medians of the rounds; the lowest and the highest are in parentheses. p50, p95 and p99 are
            the latencies that 50 %, 95 % and 99 % of the requests do not exceed. SCG is Spring Cloud Gateway.
            """;

    private static final String HOW = """

            ## How it is measured

            - The upstream takes %d ms for a request, and works on %d requests at a time. Others wait inside the
              upstream, first come, first served. So it can answer %d requests in a second.
            - Each gateway, the upstream, the load and Redis are processes of their own, on loopback ports. Each tenant
              has its own thread in the load.
            - Number of starts of all gateways: %d. After each start, every gateway gets %s requests of other tenants as
              a warm-up. Then come rounds, and each round measures every gateway, one after the other: for %d s with the
              quiet tenant alone, and then for the same time with both. Number of rounds after each start: %d.
            - Each measurement begins 2 s after the load, when the queues are as long as they become.
            - While a gateway was measured, other programs of the machine used %.2f processors in the median, and at
              most %.2f. A measurement with more than %.1f is repeated, up to %d times, and the least disturbed one
              counts.

            ## How each gateway is configured

            Each has one route. The limits say that the tenants have equal rights, and what the upstream can do.

            """;

    private String how() {
        return schedule.describe(
                HOW,
                samples.all(IsolationSample::others),
                UpstreamProcess.SERVICE.toMillis(),
                UpstreamProcess.SERVERS,
                2 * Isolation.FAIR_RATE);
    }

    String picture() {
        return new BarChart(
                        "A quiet tenant beside a noisy one",
                        samples.chartRows(),
                        List.of(
                                panel(
                                        "p50 latency",
                                        "ms",
                                        sample -> sample.quiet().p50()),
                                panel(
                                        "p99 latency",
                                        "ms",
                                        sample -> sample.quiet().p99()),
                                panel("its requests", "% of alone", sample -> 100 * sample.goodput()),
                                panel("upstream in use", "%", sample -> 100 * sample.utilisation())))
                .svg();
    }

    private Panel panel(String name, String unit, ToDoubleFunction<IsolationSample> value) {
        return new Panel(name, unit, "%.0f", samples.spreads(value), OptionalDouble.empty());
    }

    private double median(Peer peer, ToDoubleFunction<IsolationSample> value) {
        return samples.spread(peer, value).median();
    }

    private String latency(Peer peer, ToDoubleFunction<IsolationSample> value) {
        Spread spread = samples.spread(peer, value);
        return Formats.number("%.0f ms (%.0f to %.0f)", spread.median(), spread.least(), spread.most());
    }

    private String percent(Peer peer, ToDoubleFunction<IsolationSample> value) {
        Spread spread = samples.spread(peer, value);
        return Formats.number(
                "**%.0f %%** (%.0f to %.0f)", 100 * spread.median(), 100 * spread.least(), 100 * spread.most());
    }
}

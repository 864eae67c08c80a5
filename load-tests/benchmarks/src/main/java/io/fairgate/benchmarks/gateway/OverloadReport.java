package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.gateway.Overload.OverloadSample;
import io.fairgate.benchmarks.gateway.Overload.Setting;
import io.fairgate.benchmarks.process.Processors;
import io.fairgate.benchmarks.report.BarChart;
import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.BarChart.Row;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** {@code docs/reports/gateway-overload.md}. */
record OverloadReport(String machine, Schedule schedule, List<OverloadSample> samples) {

    /** Of the peak, at ten times the load. */
    private static final double TARGET = 0.9;

    private static final String HEAD = """
            # Gateway under overload

            What Fairgate serves when clients send up to ten times what it can carry, with its
            [protection from overload](../sizing.md#overload) and without. No limit of the policy is reached: the
            processor is what there is too little of.

            To run it again: `mvn -P overload-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds
            Fairgate, measures, and rewrites this page and its picture. It takes about a quarter of an hour, on a
            machine that should have nothing else to do. With `-Dfairgate.quick=true` it takes two minutes, only shows
            that the measurement works, and writes to `load-tests/benchmarks/target/overload-benchmarks`.

            ![Goodput of both tenants at each load](gateway-overload.svg)

            """;

    private static final String TABLE = """

            ## %s

            | load | served/s | of the peak | greedy: served/s | modest: served of what it sent | p50 | p99 | refused/s | connections broken/s | given up/s | lag | heap | process |
            |---|---|---|---|---|---|---|---|---|---|---|---|---|
            """;

    private static final String BELOW = """

            *Load* is in times of what the gateway can carry. *Served* are answers with 200 before the client gives up;
            the *peak* is the most that was served in a second at any load of the same table. p50 and p99 are latencies of the modest
            tenant's served requests. *Refused* are answers with 503. *Connections broken* were reset by the gateway,
            or closed before the answer. *Given up* are requests without an answer in %d ms. *Lag* is the
            highest of `fairgate_event_loop_lag_seconds`; *heap* is what was in use after a full collection, and
            *process* what the process occupied, of which the whole heap is 512 MB. All numbers are medians of the
            starts; the lowest and the highest are in parentheses.
            """;

    private static final String TARGETS = """

            ## Targets

            | target | measured | met |
            |---|---|---|
            """;

    private static final String HOW = """

            ## How it is measured

            - Gateway, upstream and load are processes of their own, on loopback ports. %s
            - The load is an open loop: requests arrive at a fixed rate, whatever becomes of those before. The greedy
              tenant has up to %,d connections, the modest one up to %,d; both have the same weight. A request that
              finds no free connection opens one, at most %,d of a tenant in a second; else it is never sent, because
              no client has endless connections. A client gives up after %d ms, and closes the connection.
            - The modest tenant sends %.0f %% of what the gateway can carry, or of the load if that is less. The greedy
              one sends the rest.
            - What the gateway can carry is what a closed loop of %d connections got, after %s requests as a warm-up.
            - The route has `FairShare` with more permits than are ever used, and each tenant has two quotas that are
              never reached. The requests are GET without a body; the upstream answers at once.
            - The gateway was started %d times in each way. Each load was measured for %d s, after %d s of the same load.
            - While the gateway was measured, other programs of the machine used %.2f processors in the median, and at most
              %.2f.
            """;

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + Arrays.stream(Setting.values()).map(this::table).collect(Collectors.joining())
                + Formats.number(BELOW, Overload.PATIENCE.toMillis())
                + TARGETS
                + targets()
                + how();
    }

    private String table(Setting setting) {
        String title = setting.title.substring(0, 1).toUpperCase(Locale.ROOT) + setting.title.substring(1);
        return Formats.number(TABLE, title)
                + Overload.TIMES.stream().map(times -> row(setting, times)).collect(Collectors.joining());
    }

    private String row(Setting setting, double times) {
        return Formats.number(
                "| %.1f | %s | %s | %s | %s | %s ms | %s ms | %s | %s | %s | %s ms | %s MB | %s MB |\n",
                times,
                median(setting, times, OverloadSample::served),
                percent(setting, times, this::goodput),
                median(setting, times, sample -> sample.greedy().served()),
                percent(setting, times, OverloadReport::modest),
                median(setting, times, sample -> sample.modest().p50()),
                median(setting, times, sample -> sample.modest().p99()),
                median(
                        setting,
                        times,
                        sample -> sample.greedy().refused() + sample.modest().refused()),
                median(
                        setting,
                        times,
                        sample -> sample.greedy().broken() + sample.modest().broken()),
                median(
                        setting,
                        times,
                        sample -> sample.greedy().gaveUp() + sample.modest().gaveUp()),
                median(setting, times, sample -> 1000 * sample.lagSeconds()),
                median(setting, times, OverloadSample::heapMegabytes),
                median(setting, times, OverloadSample::residentMegabytes));
    }

    private static double modest(OverloadSample sample) {
        return sample.modest().served() / sample.modest().arrived();
    }

    /** Compared with the most that the same gateway served in a second. */
    private double goodput(OverloadSample sample) {
        double peak = samples.stream()
                .filter(other -> other.setting() == sample.setting() && other.round() == sample.round())
                .mapToDouble(OverloadSample::served)
                .max()
                .orElseThrow();
        return sample.served() / peak;
    }

    private Spread spread(Setting setting, double times, ToDoubleFunction<OverloadSample> value) {
        return Spread.of(
                samples.stream()
                        .filter(sample -> sample.setting() == setting && sample.times() == times)
                        .toList(),
                value);
    }

    private String median(Setting setting, double times, ToDoubleFunction<OverloadSample> value) {
        return Formats.number("%,.0f", spread(setting, times, value).median());
    }

    private String percent(Setting setting, double times, ToDoubleFunction<OverloadSample> value) {
        Spread spread = spread(setting, times, value);
        return Formats.number(
                "**%.0f %%** (%.0f to %.0f)", 100 * spread.median(), 100 * spread.least(), 100 * spread.most());
    }

    private String targets() {
        double most = Overload.TIMES.get(Overload.TIMES.size() - 1);
        Spread heap = spread(Setting.PROTECTED, most, OverloadSample::heapMegabytes);
        double before =
                spread(Setting.PROTECTED, 1, OverloadSample::heapMegabytes).median();
        return target(
                        "Goodput at ten times the load is at least 90 % of its peak",
                        percent(Setting.PROTECTED, most, this::goodput),
                        spread(Setting.PROTECTED, most, this::goodput).median() >= TARGET)
                + target(
                        "The modest tenant, which is within its share, gets at least 90 % of what it sends then",
                        percent(Setting.PROTECTED, most, OverloadReport::modest),
                        spread(Setting.PROTECTED, most, OverloadReport::modest).median() >= TARGET)
                + target(
                        "The heap after ten times the load is at most a tenth larger than after the load that it can carry",
                        Formats.number("%.0f MB, then %.0f MB", before, heap.median()),
                        heap.median() <= 1.1 * before);
    }

    private static String target(String target, String measured, boolean isMet) {
        return Formats.number("| %s | %s | %s |\n", target, measured, Formats.verdict(isMet));
    }

    private String how() {
        Spread others = Spread.of(samples, OverloadSample::others);
        return Formats.number(
                HOW,
                Processors.canBeChosen()
                        ? "The gateway has one processor, and the others share another one."
                        : "The system could not give them processors of their own.",
                Overload.CONNECTIONS,
                Overload.CONNECTIONS / 10,
                Overload.NEW_PER_SECOND,
                Overload.PATIENCE.toMillis(),
                100 * Overload.MODEST,
                Overload.PEAK_CONNECTIONS,
                Formats.number("%,d", schedule.warmUps() * schedule.warmUpRequests()),
                schedule.forks(),
                schedule.time().toSeconds(),
                Overload.LEAD_IN.toSeconds(),
                others.median(),
                others.most());
    }

    String picture() {
        List<Row> rows = Overload.TIMES.stream()
                .map(times -> new Row(Formats.number("load x %.1f", times), true))
                .toList();
        return new BarChart(
                        "Requests served at each load",
                        rows,
                        List.of(
                                panel("protected", this::goodput, Setting.PROTECTED, TARGET),
                                panel("unprotected", this::goodput, Setting.UNPROTECTED, TARGET),
                                panel("modest, protected", OverloadReport::modest, Setting.PROTECTED, 1),
                                panel("modest, unprotected", OverloadReport::modest, Setting.UNPROTECTED, 1)))
                .svg();
    }

    private Panel panel(String name, ToDoubleFunction<OverloadSample> value, Setting setting, double target) {
        List<Spread> values = Overload.TIMES.stream()
                .map(times -> spread(setting, times, sample -> 100 * value.applyAsDouble(sample)))
                .toList();
        return new Panel(name, "%", "%.0f", values, OptionalDouble.of(100 * target));
    }
}

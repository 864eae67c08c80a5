package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.MembersLines;
import io.fairgate.benchmarks.gateway.RefusalCost.Fairgates;
import io.fairgate.benchmarks.gateway.RefusalCost.RefusalSample;
import io.fairgate.benchmarks.gateway.RefusalCost.RequestCost;
import io.fairgate.benchmarks.report.BarChart;
import io.fairgate.benchmarks.report.BarChart.Panel;
import io.fairgate.benchmarks.report.BarChart.Row;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code docs/reports/refusal-performance.md}. */
record RefusalCostReport(String machine, Schedule schedule, Fairgates fairgates, Samples<RefusalSample> samples) {

    private static final double KILOBYTE = 1024;

    /** Of a forwarded request. */
    static final double TARGET = 0.15;

    /** A line of the tables and of the picture. */
    private record Measured(Peer peer, RequestKind kind) {

        ToDoubleFunction<RefusalSample> value(ToDoubleFunction<RequestCost> cost) {
            return sample -> cost.applyAsDouble(sample.of(kind));
        }
    }

    String text() {
        return HEAD
                + Formats.wrapped(machine + ".", "")
                + COSTS
                + rows(all(), this::cost)
                + BELOW_COSTS
                + Formats.number(TARGETS, TARGET)
                + rows(refusals(), this::ratios)
                + Formats.number(FLOORS, MembersLines.FEW, TARGET)
                + rows(floors(), this::ratios)
                + "\n"
                + rows(floors(), this::verdicts)
                + how()
                + samples.settings();
    }

    private Stream<Measured> all() {
        return samples.peers().stream()
                .flatMap(peer -> RefusalCost.kinds(peer).stream().map(kind -> new Measured(peer, kind)));
    }

    private Stream<Measured> refusals() {
        return all().filter(row -> fairgates.both().contains(row.peer()) && row.kind() != RequestKind.FORWARDED);
    }

    private Stream<Measured> floors() {
        return all().filter(row -> RefusalCost.FLOORS.contains(row.peer()));
    }

    private static String rows(Stream<Measured> all, Function<Measured, String> row) {
        return all.map(row).collect(Collectors.joining());
    }

    private static final String HEAD = """
            # Refusal performance

            What a refused request costs in Fairgate, compared with a forwarded one: processor time and allocated
            memory. A gateway refuses most when it has most to do, so a refusal must cost little. Compare only the
            ratios, because only ratios hold on another machine. [gateway-performance.md](gateway-performance.md) says
            what forwarded requests cost in other gateways, and [refusals.md](../refusals.md) explains the refusals.

            To run it again: `mvn -P refusal-benchmarks -pl gateway,load-tests/benchmarks -am verify`. This builds
            Fairgate, measures, and rewrites this page and its picture. It takes about half an hour, on a machine that
            should have nothing else to do. With `-DskipTests -Dfairgate.quick=true` it takes two minutes, only shows
            that the comparison works, and writes to `load-tests/benchmarks/target/refusal-benchmarks`.

            ![Processor time and allocated memory of forwarded and refused requests](refusal-performance.svg)

            """;

    private static final String COSTS = """

            | server | request | processor time | relative to Reactor Netty alone | allocated |
            |---|---|---|---|---|
            """;

    private String cost(Measured row) {
        Measured least = new Measured(RefusalCost.REACTOR_NETTY, RequestKind.QUEUE_FULL);
        return Formats.number(
                "| %s | %s | %s | %s | %.1f kB |\n",
                row.peer().name(),
                row.kind().description,
                Formats.time(median(row, RequestCost::nanos)),
                Formats.ratio(ratio(row, least, RequestCost::nanos)),
                median(row, RequestCost::bytes) / KILOBYTE);
    }

    private static final String BELOW_COSTS = """

            Processor time and allocated memory are those of one request in the server, as medians of all rounds. A
            ratio is the median of the ratios of all rounds; the lowest and the highest are in parentheses. SCG is
            Spring Cloud Gateway. The last two servers do nothing but refuse.
            """;

    private static final String TARGETS = """

            ## Targets

            A refusal needs at most %.2f of the processor time of a forwarded request: of the same Fairgate, and of
            plain SCG. For the allocated memory there is no target.

            | refusal | time, relative to Fairgate | met | time, relative to plain SCG | met | memory, relative to Fairgate |
            |---|---|---|---|---|---|
            """;

    private static final String FLOORS = """

            ## The least that a refusal can cost

            Two servers read a request, write the same response for all, and do nothing else: no route, no tenant, no
            quota, no pool, no meter. Fairgate runs on Reactor Netty, so the first one is what would be left of a
            refusal if Fairgate's own work took no time. Here as well, the ratios are those to forwarded requests, of
            Fairgate with %d members and of plain SCG, and the limit is %.2f.

            | server | time, relative to Fairgate | within | time, relative to plain SCG | within | memory, relative to Fairgate |
            |---|---|---|---|---|---|
            """;

    private String ratios(Measured row) {
        Spread ofFairgate = ratio(row, forwarded(row), RequestCost::nanos);
        Spread ofSpring = ratio(row, SPRING, RequestCost::nanos);
        Spread memory = ratio(row, forwarded(row), RequestCost::bytes);
        return "| %s | %s | %s | %s |\n"
                .formatted(label(row), judged(ofFairgate), judged(ofSpring), Formats.ratio(memory));
    }

    private static String label(Measured row) {
        return RefusalCost.FLOORS.contains(row.peer())
                ? row.peer().name()
                : row.peer().name() + ": " + row.kind().status;
    }

    private static String judged(Spread ratio) {
        return Formats.ratio(ratio) + " | " + Formats.verdict(isWithin(ratio));
    }

    private static boolean isWithin(Spread ratio) {
        return ratio.median() <= TARGET;
    }

    private String verdicts(Measured floor) {
        return verdict(floor, "Fairgate", ratio(floor, forwarded(floor), RequestCost::nanos))
                + verdict(floor, "plain SCG", ratio(floor, SPRING, RequestCost::nanos));
    }

    private static final String WITHIN = "That is within the target; the rest is what a gateway may add.";
    private static final String ABOVE =
            "That alone is above the target: on this machine, no gateway that answers through this server can meet it.";

    private static String verdict(Measured floor, String base, Spread ratio) {
        String needs = Formats.number(
                "- **%s** needs %.2f of the processor time of a forwarded request of %s.",
                floor.peer().name(), ratio.median(), base);
        return Formats.wrapped(needs + " " + (isWithin(ratio) ? WITHIN : ABOVE), "  ");
    }

    private static final Measured SPRING = new Measured(RefusalCost.SPRING, RequestKind.FORWARDED);

    /** Of the same Fairgate; of the smaller one for all other servers. */
    private Measured forwarded(Measured row) {
        Peer peer = fairgates.both().contains(row.peer()) ? row.peer() : fairgates.few();
        return new Measured(peer, RequestKind.FORWARDED);
    }

    private Spread ratio(Measured row, Measured base, ToDoubleFunction<RequestCost> cost) {
        return samples.ratios(row.peer(), row.value(cost), base.peer(), base.value(cost));
    }

    private double median(Measured row, ToDoubleFunction<RequestCost> cost) {
        return samples.spread(row.peer(), row.value(cost)).median();
    }

    private static final String HOW = """

            ## How it is measured

            - Each server, the upstream and the load are processes of their own, on loopback ports. All servers run at
              the same time, with a heap of 512 MB and the JVM's own choice of all else, and one at a time gets
              requests.
            - The load is a closed loop of %d connections: each sends the next request when the last one is answered,
              also after a refusal. The requests are GET without a body. The upstream answers at once, with 64 bytes.
              All requests of a load must get the same status; any other one ends the run with an error.
            - In Fairgate, requests are of %d tenants in turn, but those for the 401, which name no tenant. Each tenant has
              two quotas that are never used up. One route has a pool that always has a free permit. For the 429, another
              route has a third quota, which each tenant has used up. For the 503, the pool of another route is full: its
              only permit is held, each tenant has a waiting request, and no more may wait.
            - Number of starts of all servers: %d. After each start, every server gets %s requests as a warm-up, in equal
              parts of each kind. Then come rounds, and each round measures every kind of request of every server for
              %d s, one after the other. Number of rounds after each start: %d.
            - The processor time is that of the server's process, as the operating system counts it. It includes the
              compiler and the garbage collector of its JVM, and the kernel's work for its connections.
            - The allocated memory is what the heap grows by between garbage collections, as the log of the JVM's
              collector says. Memory outside of the heap is not included.
            - While a server was measured, other programs of the machine used %.2f processors in the median, and at most
              %.2f. A measurement with more than %.1f is repeated, up to %d times, and the least disturbed one counts.

            ## How each server is configured

            """;

    private String how() {
        return schedule.describe(HOW, samples.all(RefusalSample::others), GatewayCost.CONNECTIONS, MembersLines.FEW);
    }

    String picture() {
        List<Row> rows = all().map(row -> new Row(label(row), fairgates.both().contains(row.peer())))
                .toList();
        Panel time = panel("processor time", RequestCost::nanos, OptionalDouble.of(TARGET));
        Panel memory = panel("allocated", RequestCost::bytes, OptionalDouble.empty());
        return new BarChart("What a request costs: forwarded and refused", rows, List.of(time, memory)).svg();
    }

    private Panel panel(String name, ToDoubleFunction<RequestCost> cost, OptionalDouble target) {
        return new Panel(
                name,
                "relative to a forwarded request",
                "%.2f",
                all().map(row -> ratio(row, forwarded(row), cost)).toList(),
                target);
    }
}

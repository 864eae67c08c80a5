package io.fairgate.benchmarks.gateway;

import io.fairgate.benchmarks.report.BarChart.Row;
import io.fairgate.benchmarks.report.Formats;
import io.fairgate.benchmarks.report.Spread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What was measured of each gateway, in the order of the rounds. */
final class Samples<T> {

    private final Map<Peer, List<T>> samples = new LinkedHashMap<>();

    private String withoutRedis = "";

    void add(Peer peer, T sample) {
        samples.computeIfAbsent(peer, p -> new ArrayList<>()).add(sample);
    }

    Collection<Peer> peers() {
        return samples.keySet();
    }

    private List<T> of(Peer peer) {
        return Objects.requireNonNull(samples.get(peer), () -> "not measured: " + peer.name());
    }

    Spread spread(Peer peer, ToDoubleFunction<T> value) {
        return Spread.of(of(peer), value);
    }

    /** One for each gateway. */
    List<Spread> spreads(ToDoubleFunction<T> value) {
        return peers().stream().map(peer -> spread(peer, value)).toList();
    }

    /** Of all gateways together. */
    Spread all(ToDoubleFunction<T> value) {
        return Spread.of(samples.values().stream().flatMap(List::stream).toList(), value);
    }

    /** The ratios of two gateways in each round, because what disturbs a round disturbs both. */
    Spread ratios(Peer peer, Peer base, ToDoubleFunction<T> value) {
        return ratios(peer, value, base, value);
    }

    /** The same, of two different values. */
    Spread ratios(Peer peer, ToDoubleFunction<T> value, Peer base, ToDoubleFunction<T> baseValue) {
        List<T> own = of(peer);
        List<T> others = of(base);
        return new Spread(IntStream.range(0, own.size())
                .mapToObj(round -> value.applyAsDouble(own.get(round)) / baseValue.applyAsDouble(others.get(round)))
                .toList());
    }

    /** The rows of a table. */
    String rows(Function<Peer, String> row) {
        return peers().stream().map(row).collect(Collectors.joining());
    }

    /** The rows of a picture. */
    List<Row> chartRows() {
        return peers().stream()
                .map(peer -> new Row(peer.name(), peer.name().startsWith("Fairgate")))
                .toList();
    }

    /** How each gateway is configured. */
    String settings() {
        return rows(peer -> Formats.wrapped("- **%s.** %s".formatted(peer.name(), peer.setting()), "  "));
    }

    /** Says why there was no Redis; nothing if there was. */
    void withoutRedis(String reason) {
        withoutRedis = reason;
    }

    /** Which gateway is not there, and why; nothing if all are. */
    String leftOut() {
        return withoutRedis.isEmpty()
                ? ""
                : Formats.wrapped(
                        "The gateway with the Redis limiter was left out, because Redis cannot run on this machine: %s."
                                .formatted(withoutRedis),
                        "");
    }
}

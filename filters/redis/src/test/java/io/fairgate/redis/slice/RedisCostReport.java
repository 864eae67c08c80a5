package io.fairgate.redis.slice;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * {@code docs/reports/redis-performance.md}.
 *
 * @param empty microseconds of a script that does nothing
 * @param all of heartbeats
 */
record RedisCostReport(double empty, List<Measured> all, OnePermit onePermit, Lease lease) {

    /** Requests a second of one gateway with one permit, and of three gateways that share it. */
    record OnePermit(double alone, double together) {}

    /** Microseconds of processor time: to acquire a lease and release it, and for two calls of a script that does nothing. */
    record Lease(double micros, double twoCalls) {}

    /** Of the pool: each node has its part. */
    static final int PERMITS = 1_000;

    /** @param tenants with requests at each node */
    record Case(int nodes, int tenants) {}

    /** @param micros of the script of one heartbeat */
    record Measured(Case of, double micros) {}

    private static final Case USUAL = new Case(10, 20);
    private static final Case MORE_NODES = new Case(20, 20);
    private static final Case MORE_TENANTS = new Case(10, 100);
    static final List<Case> CASES = List.of(
            new Case(1, 20), new Case(2, 20), new Case(5, 20), USUAL, MORE_NODES, new Case(10, 1), MORE_TENANTS);

    private static final double MOST_MICROS = 200;
    private static final double LEAST_TOGETHER = 0.8;
    private static final double MOST_FOR_LEASE = 4;

    private static final String PAGE = """
            # Cost of sharing through Redis

            What [several gateways](../cluster.md) need to share a pool and leases. Compare only the ratios, because only ratios hold on another machine.

            To run it again: `mvn -P redis-benchmarks -pl filters/redis -am verify`. It takes about five minutes, on a machine that should have nothing
            else to do, and rewrites this page.

            ## Heartbeats

            How long the script of a heartbeat runs in Redis, by the number of gateways and of tenants that have requests at each of them. Redis runs
            one script at a time: with 10 heartbeats a second, a pool of 10 gateways needs 100 times as long in each second.

            | gateways | tenants at each | µs for a heartbeat | relative to 10 gateways with 20 tenants |
            |---|---|---|---|
            %s
            A script that does nothing takes %s µs. Redis itself counts these times (`commandstats`).

            ## One permit for three gateways

            A pool has one permit, each request holds it for 20 ms, and each gateway always has requests that wait. One gateway alone serves %s requests a
            second, and three that share the pool serve %s together. The permit goes from one to the next with a message of Redis.

            ## Leases

            Processor time of the gateway's process, its heartbeats included: %s µs to open a lease, to acquire a permit that is free and to release it,
            and %s µs for two calls of a script that does nothing.

            ## Targets

            | target | measured | met |
            |---|---|---|
            | 10 gateways with 20 tenants: at most 200 µs | %s µs | %s |
            | twice as many gateways: at most twice as long | %s times | %s |
            | five times as many tenants: at most five times as long | %s times | %s |
            | three gateways with one permit: at least 0.8 of the requests of one | %s | %s |
            | a lease: at most four times as much as two calls | %s times | %s |
            """;

    private double micros(Case of) {
        return all.stream()
                .filter(each -> each.of().equals(of))
                .findFirst()
                .orElseThrow()
                .micros();
    }

    private double relative(Case of) {
        return micros(of) / micros(USUAL);
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value);
    }

    private static String verdict(boolean isMet) {
        return isMet ? "yes" : "**no**";
    }

    String text() {
        String rows = all.stream()
                .map(each -> "| %d | %d | %s | %s |\n"
                        .formatted(
                                each.of().nodes(),
                                each.of().tenants(),
                                number(each.micros()),
                                number(relative(each.of()))))
                .collect(Collectors.joining());
        double together = onePermit.together() / onePermit.alone();
        double forLease = lease.micros() / lease.twoCalls();
        return PAGE.formatted(
                rows,
                number(empty),
                number(onePermit.alone()),
                number(onePermit.together()),
                number(lease.micros()),
                number(lease.twoCalls()),
                number(micros(USUAL)),
                verdict(micros(USUAL) <= MOST_MICROS),
                number(relative(MORE_NODES)),
                verdict(relative(MORE_NODES) <= 2),
                number(relative(MORE_TENANTS)),
                verdict(relative(MORE_TENANTS) <= 5),
                number(together),
                verdict(together >= LEAST_TOGETHER),
                number(forLease),
                verdict(forLease <= MOST_FOR_LEASE));
    }
}

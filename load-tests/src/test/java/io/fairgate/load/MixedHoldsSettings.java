package io.fairgate.load;

import java.net.URI;
import java.time.Duration;

/** The parameters of a run, which {@link MixedHoldsSimulation} describes. */
record MixedHoldsSettings(
        Ports ports, Route route, Side longHolds, Side shortHolds, Duration warmUp, Duration measured) {

    record Ports(URI gateway, URI management, int upstream) {}

    record Route(String pool, String path) {}

    /**
     * One of the two tenants.
     *
     * @param weight the one in the policy, from which the run derives the expected ratio
     * @param hold how long the upstream works on each of its requests
     */
    record Side(String tenant, int users, double weight, Duration hold) {}

    MixedHoldsSettings {
        if (longHolds.tenant().equals(shortHolds.tenant())) {
            throw Parameters.unexpected("shortTenant", shortHolds.tenant(), "another name than the long tenant's");
        }
    }

    static MixedHoldsSettings from(Parameters given) {
        return new MixedHoldsSettings(
                new Ports(
                        given.target("gateway", "http://localhost:8080"),
                        given.target("management", "http://localhost:8081"),
                        given.whole("upstreamPort", 9_000, 65_535)),
                new Route(
                        given.text("pool", "orders", Parameters.TENANT),
                        given.text("path", "/orders/", Parameters.PATH)),
                new Side(
                        given.text("longTenant", "batch", Parameters.TENANT),
                        given.whole("longUsers", 5, 5_000),
                        given.factor("longWeight", 1),
                        Duration.ofMillis(given.whole("longMillis", 3_000, 60_000))),
                new Side(
                        given.text("shortTenant", "api", Parameters.TENANT),
                        given.whole("shortUsers", 60, 5_000),
                        given.factor("shortWeight", 3),
                        Duration.ofMillis(given.whole("shortMillis", 20, 60_000))),
                Duration.ofSeconds(given.whole("warmUpSeconds", 15, 600)),
                Duration.ofSeconds(given.whole("seconds", 60, 3_600)));
    }
}

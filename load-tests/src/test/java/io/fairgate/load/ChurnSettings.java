package io.fairgate.load;

import java.net.URI;
import java.time.Duration;

/** The parameters of a run, which {@link LeaseChurnSimulation} describes. */
record ChurnSettings(Ports ports, Shared shared, Party batch, Party api, Duration warmUp, Duration measured) {

    record Ports(URI gateway, URI leases, URI management, int upstream) {}

    record Shared(String pool, String path) {}

    /** @param weight the one in the policy, from which the run derives the expected ratio */
    record Party(String tenant, int users, double weight) {}

    /** For how long a lease is held, and how long the upstream works on a request. */
    static final Duration WORK = Duration.ofMillis(50);

    ChurnSettings {
        if (batch.tenant().equals(api.tenant())) {
            throw Parameters.unexpected("apiTenant", api.tenant(), "another name than the batch tenant's");
        }
    }

    static ChurnSettings from(Parameters given) {
        return new ChurnSettings(
                new Ports(
                        given.target("gateway", "http://localhost:8080"),
                        given.target("leases", "http://localhost:8000"),
                        given.target("management", "http://localhost:8081"),
                        given.whole("upstreamPort", 9_000, 65_535)),
                new Shared(
                        given.text("pool", "orders", Parameters.TENANT),
                        given.text("path", "/orders/", Parameters.PATH)),
                new Party(
                        given.text("batchTenant", "batch", Parameters.TENANT),
                        given.whole("batchUsers", 50, 5_000),
                        given.factor("batchWeight", 1)),
                new Party(
                        given.text("apiTenant", "api", Parameters.TENANT),
                        given.whole("apiUsers", 50, 5_000),
                        given.factor("apiWeight", 3)),
                Duration.ofSeconds(given.whole("warmUpSeconds", 10, 600)),
                Duration.ofSeconds(given.whole("seconds", 20, 3_600)));
    }
}

package io.fairgate.load;

import java.net.URI;
import java.time.Duration;

/** The parameters of a run, which {@link NoisyNeighbourSimulation} describes. */
record LoadSettings(
        URI gateway, Routes routes, Tenant noisy, Tenant quiet, Duration warmUp, Duration phase, Limits limits) {

    record Routes(String fair, String plain) {}

    record Tenant(String name, int users) {}

    record Limits(double maxRatio, double minGain) {}

    LoadSettings {
        if (noisy.name().equals(quiet.name())) {
            throw Parameters.unexpected("quietTenant", quiet.name(), "another name than the noisy tenant's");
        }
    }

    static LoadSettings from(Parameters given) {
        return new LoadSettings(
                given.target("gateway", "http://localhost:8080"),
                new Routes(
                        given.text("fairPath", "/fair/", Parameters.PATH),
                        given.text("plainPath", "/plain/", Parameters.PATH)),
                new Tenant(given.text("noisyTenant", "noisy", Parameters.TENANT), given.whole("noisyUsers", 64, 5_000)),
                new Tenant(given.text("quietTenant", "quiet", Parameters.TENANT), given.whole("quietUsers", 2, 5_000)),
                Duration.ofSeconds(given.whole("warmUpSeconds", 3, 600)),
                Duration.ofSeconds(given.whole("seconds", 10, 3_600)),
                new Limits(given.factor("maxRatio", 1.5), given.factor("minGain", 1.5)));
    }
}

package io.fairgate.spring.metrics;

import io.fairgate.policy.Policy;
import io.fairgate.spring.policy.PolicyParticipant;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.time.Instant;
import java.time.InstantSource;

/** The policies that were offered: how many, whether the latest one is in force, and since when one is. */
final class ReloadMeters implements PolicyParticipant {

    private final InstantSource clock;
    private final Counter successes;
    private final Counter failures;
    private volatile boolean isLatestInForce = true;
    private volatile Instant inForceSince;

    /** All are registered at the start, so that the first reload shows as an increase. */
    ReloadMeters(MeterRegistry registry, InstantSource clock) {
        this.clock = clock;
        this.inForceSince = clock.instant();
        this.successes = reloads(registry, "success");
        this.failures = reloads(registry, "failure");
        Meter.POLICY_LAST_RELOAD_SUCCESSFUL.register(registry, Tags.empty(), () -> isLatestInForce ? 1 : 0);
        Meter.POLICY_LAST_RELOAD_SUCCESS.register(registry, Tags.empty(), () -> inForceSince.toEpochMilli() / 1e3);
    }

    private static Counter reloads(MeterRegistry registry, String result) {
        return Counter.builder(Meter.POLICY_RELOADS.id())
                .description(Meter.POLICY_RELOADS.description())
                .tags("result", result)
                .register(registry);
    }

    @Override
    public Order order() {
        return Order.METERS;
    }

    @Override
    public void commit(Policy next) {
        // It is in force only when all participants have changed.
    }

    @Override
    public void inForce() {
        inForceSince = clock.instant();
        isLatestInForce = true;
        successes.increment();
    }

    @Override
    public void unchanged() {
        isLatestInForce = true;
    }

    @Override
    public void rollBack() {
        isLatestInForce = false;
        failures.increment();
    }
}

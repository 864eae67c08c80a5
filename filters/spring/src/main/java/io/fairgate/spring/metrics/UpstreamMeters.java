package io.fairgate.spring.metrics;

import io.fairgate.spring.upstream.InstanceAddress;
import io.fairgate.spring.upstream.InstanceMeters;
import io.fairgate.spring.upstream.LiveUpstream;
import io.fairgate.upstream.InstanceStatus;
import io.fairgate.upstream.Outcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/** The meters of upstreams: some rows for each instance, which come and go with the policy and with the addresses of names. */
final class UpstreamMeters implements InstanceMeters {

    private final MeterRegistry registry;
    /** By upstream and instance. Guarded by this. */
    private final Map<String, Map<String, List<io.micrometer.core.instrument.Meter>>> rows = new HashMap<>();

    UpstreamMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public synchronized void show(LiveUpstream upstream) {
        Set<String> names = new HashSet<>();
        upstream.status().forEach(status -> names.add(status.instance().toString()));
        show(upstream, names);
    }

    private void show(LiveUpstream upstream, Set<String> names) {
        Map<String, List<io.micrometer.core.instrument.Meter>> shown =
                rows.computeIfAbsent(upstream.name(), name -> new HashMap<>());
        shown.entrySet().removeIf(row -> {
            boolean isGone = !names.contains(row.getKey());
            if (isGone) {
                row.getValue().forEach(registry::remove);
            }
            return isGone;
        });
        names.forEach(name -> shown.computeIfAbsent(name, instance -> register(upstream, instance)));
        retries(upstream);
    }

    private List<io.micrometer.core.instrument.Meter> register(LiveUpstream upstream, String instance) {
        Tags tags = tags(upstream, instance);
        List<io.micrometer.core.instrument.Meter> meters = new ArrayList<>();
        meters.add(Meter.INSTANCE_IN_FLIGHT.register(
                registry, tags, () -> value(upstream, instance, InstanceStatus::inFlight)));
        meters.add(Meter.INSTANCE_IN_USE.register(
                registry, tags, () -> value(upstream, instance, status -> status.isInUse() ? 1 : 0)));
        for (Outcome outcome : List.of(Outcome.FAILED, Outcome.UNREACHABLE)) {
            meters.add(failures(tags, outcome));
        }
        return meters;
    }

    private static double value(
            LiveUpstream upstream, String instance, ToDoubleFunction<InstanceStatus<InstanceAddress>> value) {
        return upstream.status().stream()
                .filter(status -> status.instance().toString().equals(instance))
                .mapToDouble(value)
                .sum();
    }

    @Override
    public synchronized void gone(LiveUpstream upstream) {
        show(upstream, Set.of());
        rows.remove(upstream.name());
        registry.remove(retries(upstream));
    }

    @Override
    public synchronized void failed(LiveUpstream upstream, InstanceAddress instance, Outcome outcome) {
        String name = instance.toString();
        if (rows.getOrDefault(upstream.name(), Map.of()).containsKey(name)) {
            failures(tags(upstream, name), outcome).increment();
        }
    }

    @Override
    public synchronized void repeated(LiveUpstream upstream) {
        if (rows.containsKey(upstream.name())) {
            retries(upstream).increment();
        }
    }

    private Counter failures(Tags tags, Outcome outcome) {
        return Counter.builder(Meter.INSTANCE_FAILURES.id())
                .description(Meter.INSTANCE_FAILURES.description())
                .tags(tags.and("kind", outcome.name().toLowerCase(Locale.ROOT)))
                .register(registry);
    }

    private Counter retries(LiveUpstream upstream) {
        return Counter.builder(Meter.UPSTREAM_RETRIES.id())
                .description(Meter.UPSTREAM_RETRIES.description())
                .tags("upstream", upstream.name())
                .register(registry);
    }

    private static Tags tags(LiveUpstream upstream, String instance) {
        return Tags.of("upstream", upstream.name(), "instance", instance);
    }
}

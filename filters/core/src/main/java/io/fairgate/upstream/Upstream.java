package io.fairgate.upstream;

import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An API with several instances, each of which can answer every request.
 *
 * @param instances at least one; all with http, or all with https
 * @param balance how requests are spread over them
 * @param health when one is put aside for its failures
 * @param check the check of each instance; null for none
 * @param retries to how many other instances a request is sent, one after the other, when it cannot have had an effect
 */
public record Upstream(
        List<Instance> instances,
        Balance balance,
        HealthRules health,
        @Nullable HealthCheck check,
        int retries) {

    public static final int MAX_INSTANCES = 1000;
    public static final int USUAL_RETRIES = 2;
    public static final int MAX_RETRIES = 100;

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public Upstream {
        instances = List.copyOf(instances);
        if (instances.isEmpty() || instances.size() > MAX_INSTANCES) {
            throw new IllegalArgumentException(
                    "uris: %d instances (expected: 1 to %d)".formatted(instances.size(), MAX_INSTANCES));
        }
        Set<URI> uris = new HashSet<>();
        for (Instance instance : instances) {
            if (!uris.add(instance.uri())) {
                throw new IllegalArgumentException(
                        "uris: %s twice (expected: each instance once, with a weight)".formatted(instance.uri()));
            }
            if (instance.isSecure() != instances.get(0).isSecure()) {
                throw new IllegalArgumentException("uris: %s beside %s (expected: all with TLS, or all without)"
                        .formatted(instance.uri(), instances.get(0).uri()));
            }
        }
        if (retries < 0 || retries > MAX_RETRIES) {
            throw new IllegalArgumentException("retries: %d (expected: 0 to %d)".formatted(retries, MAX_RETRIES));
        }
    }

    /** With the usual settings. */
    public static Upstream of(List<Instance> instances) {
        return new Upstream(instances, Balance.LEAST_REQUESTS, HealthRules.USUAL, null, USUAL_RETRIES);
    }
}

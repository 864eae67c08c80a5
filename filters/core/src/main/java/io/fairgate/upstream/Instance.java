package io.fairgate.upstream;

import java.net.URI;

/**
 * One instance of an upstream, or all those that its name stands for.
 *
 * @param uri scheme, host and port
 * @param weight how many requests it gets, compared with the other instances
 */
public record Instance(URI uri, int weight) {

    public static final int MAX_WEIGHT = 1000;

    /** @throws IllegalArgumentException naming the setting, what was found and what was expected */
    public Instance {
        if (weight < 1 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException("weight: %d (expected: 1 to %d)".formatted(weight, MAX_WEIGHT));
        }
    }
}

package io.fairgate.benchmarks.gateway;

import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * A gateway that is compared.
 *
 * @param id short, for file names
 * @param name as in the reports
 * @param setting how it is configured, for the reports
 * @param needsRedis whether it can only run beside a Redis
 * @param arguments of the JVM that runs it
 * @param listens the line in which it prints its port, as the first group, and the port for its management, if any
 */
record Peer(
        String id,
        String name,
        String setting,
        boolean needsRedis,
        Function<Surroundings, List<String>> arguments,
        Pattern listens) {

    @Override
    public String toString() {
        return id;
    }
}

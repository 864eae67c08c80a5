package io.fairgate.benchmarks.gateway;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A gateway that is compared.
 *
 * @param id short, for file names
 * @param name as in the reports
 * @param setting how it is configured, for the reports
 * @param needsRedis whether it can only run beside a Redis
 * @param arguments of the JVM that runs it
 * @param listens the line in which it prints its port, as the first group, and the port for its management, if any
 * @param jdk the home of the JDK that runs it, if it is another one than that of the benchmarks
 */
record Peer(
        String id,
        String name,
        String setting,
        boolean needsRedis,
        Function<Surroundings, List<String>> arguments,
        Pattern listens,
        Optional<Path> jdk) {

    /** A gateway that the JDK of the benchmarks runs. */
    Peer(
            String id,
            String name,
            String setting,
            boolean needsRedis,
            Function<Surroundings, List<String>> arguments,
            Pattern listens) {
        this(id, name, setting, needsRedis, arguments, listens, Optional.empty());
    }

    /** The same gateway with more options of the JVM. */
    Peer with(String otherId, String otherName, String otherSetting, List<String> options) {
        return new Peer(
                otherId,
                otherName,
                otherSetting,
                needsRedis,
                surroundings -> Stream.concat(options.stream(), arguments.apply(surroundings).stream())
                        .toList(),
                listens,
                jdk);
    }

    /** The same gateway, run by another JDK. */
    Peer on(Path home) {
        return new Peer(id, name, setting, needsRedis, arguments, listens, Optional.of(home));
    }

    @Override
    public String toString() {
        return id;
    }
}

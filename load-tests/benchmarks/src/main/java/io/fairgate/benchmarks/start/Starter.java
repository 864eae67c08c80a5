package io.fairgate.benchmarks.start;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program whose start is measured.
 *
 * @param name as in the report
 * @param setting what is started, for the report
 * @param jdk the home of the JDK that runs it
 * @param arguments of the JVM; each {@link #PORT} is replaced by the port to listen on
 * @param path of the first request
 */
record Starter(String name, String setting, Path jdk, List<String> arguments, String path) {

    static final String PORT = "{port}";

    List<String> command(int port) {
        List<String> command = new ArrayList<>(List.of(java(jdk)));
        arguments.forEach(argument -> command.add(argument.replace(PORT, Integer.toString(port))));
        return command;
    }

    static String java(Path jdk) {
        return jdk.resolve("bin").resolve("java").toString();
    }
}

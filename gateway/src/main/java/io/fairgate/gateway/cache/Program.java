package io.fairgate.gateway.cache;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program and its JVM, to be started again in the same way.
 *
 * @param java the launcher
 * @param jvmOptions those of this process, without any that choose a cache
 * @param jar with an absolute path: JDK 17 compares it with that of a later start
 */
record Program(Path java, List<String> jvmOptions, Path jar) {

    /** @throws StartCacheException when this process does not run from the jar */
    static Program ofThisProcess() throws StartCacheException {
        Path jar =
                Path.of(System.getProperty("java.class.path")).toAbsolutePath().normalize();
        if (!Files.isRegularFile(jar)) {
            throw new StartCacheException(
                    "start-cache: the class path is %s (expected: one jar, as with `java -jar fairgate.jar start-cache`)"
                            .formatted(System.getProperty("java.class.path")));
        }
        return new Program(
                Path.of(System.getProperty("java.home"), "bin", "java"),
                CacheKind.without(ManagementFactory.getRuntimeMXBean().getInputArguments()),
                jar);
    }

    /** A command line that starts the program with more JVM options. */
    List<String> command(List<String> moreJvmOptions, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(java.toString()));
        command.addAll(jvmOptions);
        command.addAll(moreJvmOptions);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(arguments);
        return command;
    }
}

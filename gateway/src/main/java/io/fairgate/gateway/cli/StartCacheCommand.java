package io.fairgate.gateway.cli;

import io.fairgate.gateway.cache.StartCache;
import io.fairgate.gateway.cache.StartCacheException;
import io.fairgate.gateway.start.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code start-cache}: makes a file with which the JVM starts the program faster. */
@Command(
        name = "start-cache",
        description =
                "Makes a file with which the JVM starts the program faster: an AOT cache, or a CDS archive before JDK 25.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class StartCacheCommand implements Callable<Integer> {

    private static final long MEGABYTE = 1 << 20;

    @Option(
            names = "--output",
            paramLabel = "FILE",
            description = "The file to write; without this option fairgate.aot or fairgate.jsa beside the jar.")
    private @Nullable Path output;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = command.commandLine().getOut();
        try {
            StartCache beside = StartCache.besideJar();
            StartCache cache = output == null ? beside : beside.in(output);
            out.println("Starts a gateway on free ports, and records what the JVM loads ...");
            out.flush();
            cache.make();
            out.printf(
                    "%s: %d MB. To start with it:%n%n  %s%n%n"
                            + "Make it again whenever the jar, the JDK, or the JVM's heap and collector change:"
                            + " the JVM starts without a file that does not match.%n",
                    cache.file(), Files.size(cache.file()) / MEGABYTE, cache.command());
            out.flush();
            return 0;
        } catch (StartCacheException failed) {
            command.commandLine().getErr().println(failed.getMessage());
        } catch (IOException failed) {
            command.commandLine().getErr().printf("start-cache: %s%n", failed);
        }
        return 1;
    }
}

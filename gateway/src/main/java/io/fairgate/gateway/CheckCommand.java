package io.fairgate.gateway;

import io.fairgate.config.InvalidPolicyException;
import io.fairgate.config.PolicyFile;
import io.fairgate.config.PolicyReader;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code check FILE}: says everything that is wrong with a policy; exit code 1 when something is. */
@Command(
        name = "check",
        description = "Reads a policy and names every mistake in it.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
final class CheckCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The policy file.")
    private Path file;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() {
        PrintWriter out = command.commandLine().getOut();
        try {
            PolicyFile policy = PolicyReader.read(file);
            out.printf("%s: ok (%s)%n", file, StartReport.contents(policy));
            return 0;
        } catch (InvalidPolicyException invalid) {
            invalid.mistakes().forEach(out::println);
            return 1;
        }
    }
}

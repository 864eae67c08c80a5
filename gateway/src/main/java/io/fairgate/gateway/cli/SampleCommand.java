package io.fairgate.gateway.cli;

import io.fairgate.config.PolicyReference;
import io.fairgate.gateway.start.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sample}: prints a policy to start from, so that the jar alone is enough to begin. */
@Command(
        name = "sample",
        description = "Prints a policy that explains every key: sample > fairgate.yml",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class SampleCommand implements Runnable {

    @Option(names = "--schema", description = "Prints the JSON schema of policies instead, for editors.")
    private boolean schema;

    @Spec
    private CommandSpec command;

    @Override
    public void run() {
        command.commandLine().getOut().print(schema ? PolicyReference.schema() : PolicyReference.text());
        command.commandLine().getOut().flush();
    }
}

package io.fairgate.gateway;

import io.fairgate.config.PolicyReference;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code sample}: a policy to start from, for whoever has the jar and nothing else. */
@Command(
        name = "sample",
        description = "Prints a policy that explains every key: sample > fairgate.yml",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
final class SampleCommand implements Runnable {

    @Spec
    private CommandSpec command;

    @Override
    public void run() {
        command.commandLine().getOut().print(PolicyReference.text());
        command.commandLine().getOut().flush();
    }
}

package io.fairgate.gateway.cli;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.gateway.policy.PolicyReload;
import io.fairgate.gateway.policy.PolicyReload.Report;
import io.fairgate.gateway.policy.PolicyReload.Result;
import io.fairgate.gateway.policy.PolicySource;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.gateway.start.StartFailedException;
import io.fairgate.gateway.start.Version;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.springframework.context.ConfigurableApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code check FILE}: prints every mistake in a policy; the exit code is 1 when there is one. It builds the gateway that
 * would serve this policy, with all its settings, and opens no port.
 */
@Command(
        name = "check",
        description =
                "Checks a policy file: prints every mistake, and warnings about settings that are rarely intended.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class CheckCommand implements Callable<Integer> {

    @Parameters(paramLabel = "FILE", description = "The policy file.")
    private Path file;

    @Unmatched
    private List<String> unmatched = new ArrayList<>();

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() {
        String[] options = SpringOptions.checked(command, unmatched);
        PrintWriter out = command.commandLine().getOut();
        PolicySource source = new PolicySource(file.toString(), PolicyFile.NOTHING, file);
        try (ConfigurableApplicationContext gateway = new GatewayRun(source).startWithoutServing(options)) {
            Report report = gateway.getBean(PolicyReload.class).reload();
            report.mistakes().forEach(out::println);
            report.warnings().forEach(out::println);
            if (report.result() == Result.REFUSED) {
                return 1;
            }
            out.printf("%s: ok (%s)%n", file, report.contents());
            return 0;
        } catch (StartFailedException failed) {
            return 1; // The reason has been reported: a setting of the process is wrong, not the policy.
        }
    }
}

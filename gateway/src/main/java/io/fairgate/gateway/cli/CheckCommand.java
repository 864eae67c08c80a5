package io.fairgate.gateway.cli;

import io.fairgate.config.PolicyReader;
import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.routes.BuiltIns;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.gateway.start.StartFailedException;
import io.fairgate.gateway.start.Version;
import io.fairgate.policy.IdentitySource;
import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicySource;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.springframework.context.ConfigurableApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * {@code check FILE…}: prints every mistake in policies; the exit code is 1 when there is one. It builds the gateway that would
 * serve these policies, with all its settings, and opens no port. It does not build the gateway when all files have mistakes
 * and the gateway would find no others.
 */
@Command(
        name = CheckCommand.NAME,
        description =
                "Checks policy files: prints every mistake, and warnings about settings that are rarely intended.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class CheckCommand implements Callable<Integer> {

    public static final String NAME = "check";

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "The policy files.")
    private List<Path> files = new ArrayList<>();

    @Option(
            names = "--format",
            defaultValue = "text",
            description =
                    "The format of the output: text, json, or github for annotations of GitHub Actions. Default: text.")
    private CheckFormat format = CheckFormat.TEXT;

    @Option(names = "--strict", description = "A file with a warning is refused as well.")
    private boolean isStrict;

    @Unmatched
    private List<String> unmatched = new ArrayList<>();

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() {
        String[] options = SpringOptions.checked(command, unmatched);
        try {
            List<CheckedFile> checked = check(options);
            PrintWriter out = command.commandLine().getOut();
            format.write(checked, out);
            out.flush();
            return checked.stream().allMatch(CheckedFile::isAccepted) ? 0 : 1;
        } catch (StartFailedException failed) {
            return 1; // The reason has been reported: a setting of the process is wrong, not the policy.
        }
    }

    private List<CheckedFile> check(String... options) {
        List<CheckedFile> refused = options.length == 0 ? withoutGateway() : List.of();
        return refused.size() == files.size() ? refused : byGateway(options);
    }

    private List<CheckedFile> byGateway(String... options) {
        PolicySource none = new PolicySource("none", PolicyFile.NOTHING, null);
        try (ConfigurableApplicationContext gateway = new GatewayRun(none).startWithoutServing(options)) {
            PolicyReload policy = gateway.getBean(PolicyReload.class);
            return files.stream()
                    .map(file -> CheckedFile.of(policy.check(file), isStrict))
                    .toList();
        }
    }

    /** The files with mistakes in which a gateway would find no others. */
    private List<CheckedFile> withoutGateway() {
        List<CheckedFile> refused = new ArrayList<>();
        for (Path file : files) {
            try {
                PolicyReader.read(file);
            } catch (InvalidPolicyException e) {
                if (needsNoBeans(e.readable())) {
                    refused.add(CheckedFile.of(file, e, isStrict));
                }
            }
        }
        return refused;
    }

    private static boolean needsNoBeans(PolicyFile file) {
        return file.routes().stream().allMatch(BuiltIns::areAllOf)
                && file.policy().identification().sources().stream().noneMatch(IdentitySource.Bean.class::isInstance);
    }
}

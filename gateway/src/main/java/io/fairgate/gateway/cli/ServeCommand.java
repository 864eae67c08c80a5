package io.fairgate.gateway.cli;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.gateway.lease.LeaseApiServer;
import io.fairgate.gateway.start.GatewayRun;
import io.fairgate.gateway.start.StartFailedException;
import io.fairgate.gateway.start.StartReport;
import io.fairgate.gateway.start.Version;
import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.spring.policyfile.PolicySource;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ConfigurableApplicationContext;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** {@code serve}: runs the gateway with the policy of a file. */
@Command(
        name = "serve",
        description = "Runs the gateway.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class)
public final class ServeCommand implements Callable<Integer> {

    private static final String IN_THIS_FOLDER = "fairgate.yml";

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The policy file; without this option $FAIRGATE_CONFIG, or ./fairgate.yml.")
    private @Nullable Path config;

    @Unmatched
    private List<String> unmatched = new ArrayList<>();

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() {
        PrintWriter err = command.commandLine().getErr();
        String[] options = SpringOptions.checked(command, unmatched);
        Path file = policyFile(System.getenv("FAIRGATE_CONFIG"));
        if (file == null) {
            err.println("There is no policy file ./fairgate.yml: create one with"
                    + " `java -jar fairgate.jar sample > fairgate.yml`, or name another with --config FILE or the"
                    + " environment variable FAIRGATE_CONFIG.");
            return 1;
        }
        try {
            PolicySource policy = PolicySource.of(file);
            ConfigurableApplicationContext gateway = new GatewayRun(policy).start(Map.of(), options);
            GatewayRun.exitWithZeroOnSignal();
            new StartReport(
                            policy.name(),
                            policy.first(),
                            gateway.getBean(PolicyReload.class).latest().warnings())
                    .write(gateway.getEnvironment(), leasePort(gateway));
            return 0;
        } catch (InvalidPolicyException invalid) {
            invalid.mistakes().forEach(err::println);
            return 1;
        } catch (StartFailedException failed) {
            return 1;
        }
    }

    private static @Nullable Integer leasePort(ConfigurableApplicationContext gateway) {
        LeaseApiServer leases = gateway.getBeanProvider(LeaseApiServer.class).getIfAvailable();
        return leases == null ? null : leases.port();
    }

    private @Nullable Path policyFile(@Nullable String fromEnvironment) {
        if (config != null) {
            return config;
        }
        if (fromEnvironment != null && !fromEnvironment.isBlank()) {
            return Path.of(fromEnvironment);
        }
        return Files.exists(Path.of(IN_THIS_FOLDER)) ? Path.of(IN_THIS_FOLDER) : null;
    }
}

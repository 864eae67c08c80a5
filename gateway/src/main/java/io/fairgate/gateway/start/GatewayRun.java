package io.fairgate.gateway.start;

import io.fairgate.gateway.check.CheckOnly;
import io.fairgate.gateway.log.RecordOutput;
import io.fairgate.policy.Policy;
import io.fairgate.spring.policyfile.PolicySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.reactive.ReactiveWebServerFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** Starts a gateway with a policy. */
public final class GatewayRun {

    private static volatile boolean serving;

    static {
        // Boot runs these handlers after it has closed the contexts, in the reverse order of registration. This one is
        // registered before those of any application, so it halts after the log has been written out.
        SpringApplication.getShutdownHandlers().add(GatewayRun::exitWithZero);
    }

    private final PolicySource policy;

    public GatewayRun(PolicySource policy) {
        this.policy = policy;
    }

    /**
     * Starts the gateway and returns when it serves. A signal starts a graceful shutdown; the exit code is then 0.
     *
     * @param defaults of Spring properties; all other sources, {@code application.yml} included, override them
     * @throws StartFailedException when it cannot start; the reason has been reported
     */
    public ConfigurableApplicationContext start(Map<String, Object> defaults, String... springOptions) {
        return run(application(defaults), springOptions);
    }

    /** Creates the whole gateway with all its settings, but opens no port and no journal, and logs nothing but a failure of the start. */
    public ConfigurableApplicationContext startWithoutServing(String... springOptions) {
        SpringApplication application = application(Map.of());
        application.addInitializers(context -> {
            GenericApplicationContext checked = (GenericApplicationContext) context;
            checked.registerBean(ReactiveWebServerFactory.class, () -> handler -> new NoServer());
            checked.registerBean(CheckOnly.class, CheckOnly::new);
        });
        String[] options = apart(
                springOptions,
                "--management.server.port=-1",
                "--fairgate.access-log=false",
                "--fairgate.shutdown-grace=0s",
                "--logging.level.root=off",
                "--logging.level.org.springframework.boot.SpringApplication=error",
                "--logging.level.io.fairgate.gateway=off",
                "--logging.level.io.fairgate.spring.policyfile=off",
                "--logging.level.io.fairgate.audit=off");
        return run(application, options);
    }

    /**
     * Adds options that keep a process apart from gateways that serve: whatever the given options or {@code application.yml} say, it
     * does not open a file of theirs.
     *
     * @param more further options, which override the given ones
     */
    public static String[] apart(String[] options, String... more) {
        List<String> all = new ArrayList<>(Arrays.asList(options));
        List<String> own = new ArrayList<>(List.of(
                "--fairgate.quotas.journal=", "--fairgate.log-files.directory=", "--fairgate.leases.fencing-file="));
        own.addAll(Arrays.asList(more));
        for (String option : own) {
            all.removeIf(given -> given.startsWith(option.substring(0, option.indexOf('=') + 1)));
            all.add(option);
        }
        return all.toArray(String[]::new);
    }

    private SpringApplication application(Map<String, Object> defaults) {
        SpringApplication application = new SpringApplication(GatewayApplication.class);
        application.setWebApplicationType(WebApplicationType.REACTIVE);
        application.setBannerMode(Banner.Mode.OFF);
        application.setLogStartupInfo(false);
        application.setDefaultProperties(defaults);
        application.addInitializers(
                new KnownSettings(),
                context -> registerPolicy((GenericApplicationContext) context),
                new RecordOutput());
        return application;
    }

    private static ConfigurableApplicationContext run(SpringApplication application, String... springOptions) {
        try {
            return application.run(springOptions);
        } catch (RuntimeException e) {
            throw new StartFailedException(e);
        }
    }

    /** Takes the place of a web server where nothing is served. */
    private static final class NoServer implements WebServer {
        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public int getPort() {
            return -1;
        }
    }

    private void registerPolicy(GenericApplicationContext context) {
        context.registerBean(Policy.class, () -> policy.first().policy());
        context.registerBean(PolicySource.class, () -> policy);
    }

    /** From now on a signal ends the process with exit code 0, because the gateway serves, and a signal is its normal end. */
    public static void exitWithZeroOnSignal() {
        serving = true;
    }

    /** Only halting sets the exit code when a signal ends the process: the JVM has chosen 128 + signal by then. */
    private static void exitWithZero() {
        if (serving) {
            Runtime.getRuntime().halt(0);
        }
    }
}

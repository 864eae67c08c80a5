package io.fairgate.gateway.start;

import io.fairgate.gateway.policy.PolicySource;
import io.fairgate.gateway.log.RecordOutput;

import io.fairgate.policy.Policy;
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
        // Boot runs these after it has closed the contexts, the first registered last: so this comes before any
        // application's, and halts after the log has been written out.
        SpringApplication.getShutdownHandlers().add(GatewayRun::endWithZero);
    }

    private final PolicySource policy;

    public GatewayRun(PolicySource policy) {
        this.policy = policy;
    }

    /**
     * Starts the gateway and returns when it serves. A signal to end the process lets it drain; the exit code is then 0.
     *
     * @throws StartFailedException when it cannot start; the reason has been told
     */
    public ConfigurableApplicationContext start(String... springOptions) {
        return start(Map.of(), springOptions);
    }

    /** Starts it with other defaults for Spring properties than those of {@code application.yml}. */
    public ConfigurableApplicationContext start(Map<String, Object> defaults, String... springOptions) {
        return run(application(defaults), springOptions);
    }

    /** Makes all of it, with every setting that it would serve with; but opens no port and no journal, and logs nothing. */
    public ConfigurableApplicationContext startWithoutServing(String... springOptions) {
        SpringApplication application = application(Map.of());
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(ReactiveWebServerFactory.class, () -> handler -> new NoServer()));
        String[] options = keepingNothing(
                springOptions,
                "--management.server.port=-1",
                "--fairgate.leases.enabled=false",
                "--fairgate.leases.throttle.enabled=false",
                "--fairgate.access-log=false",
                "--logging.level.root=off",
                "--logging.level.io.fairgate.gateway=off",
                "--logging.level.io.fairgate.audit=off");
        return run(application, options);
    }

    /**
     * Options of somebody's, which leave no file behind: neither they nor an {@code application.yml} can have one
     * opened that belongs to a gateway which serves.
     *
     * @param more options that win over theirs
     */
    public static String[] keepingNothing(String[] options, String... more) {
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

    /** In the place of a server, where nothing is to be served. */
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

    /** From now on the process ends with 0 when it is told to end: what was to be done has been done. */
    public static void endWithZeroWhenTold() {
        serving = true;
    }

    /** Only halting sets the exit code of a process that a signal ends: the JVM has chosen 128 + signal by then. */
    private static void endWithZero() {
        if (serving) {
            Runtime.getRuntime().halt(0);
        }
    }
}

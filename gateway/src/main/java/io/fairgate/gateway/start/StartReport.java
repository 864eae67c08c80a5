package io.fairgate.gateway.start;

import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.model.Warning;
import io.fairgate.permit.PoolSettings;
import io.fairgate.spring.policyfile.PolicyReload;
import io.fairgate.time.DurationText;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.env.Environment;

/** Logs the policy and the ports when the gateway has started. */
public record StartReport(String file, PolicyFile policy, List<Warning> warnings) {

    private static final Logger log = LoggerFactory.getLogger("io.fairgate.gateway.Fairgate");

    private String ofEach(String pool) {
        String upstream = policy.policy().poolsPerInstance().get(pool);
        return upstream == null ? "" : " for each instance of " + upstream;
    }

    /**
     * Writes the lines of the report.
     *
     * @param leasePort the port of the lease API; null when it is not served
     */
    public void write(Environment environment, @Nullable Integer leasePort) {
        log.info("Policy {}: {}", file, PolicyReload.contents(policy));
        warnings.forEach(warning -> log.warn("{}", warning));
        Map<String, PoolSettings> pools = policy.policy().pools();
        pools.forEach((name, pool) -> log.info(
                "Pool {}: {}, at most {} waiting, for at most {}",
                name,
                PolicyReload.count(pool.permits(), "permit") + ofEach(name),
                pool.maxWaiting(),
                DurationText.of(pool.maxWait())));
        log.info(
                "Routes: {}",
                policy.routes().isEmpty()
                        ? "none"
                        : policy.routes().stream().map(RouteDeclaration::id).collect(Collectors.joining(", ")));
        log.info(
                "{} serves on port {}, management on {}{}",
                Version.text(),
                environment.getProperty("local.server.port"),
                management(environment.getProperty("local.management.port")),
                leasePort == null ? "" : ", leases on port " + leasePort);
    }

    /** Without a port of its own, the management is on the traffic port, or switched off. */
    private static String management(@Nullable String port) {
        return port == null ? "no port of its own" : "port " + port;
    }
}

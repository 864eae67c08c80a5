package io.fairgate.gateway.start;

import io.fairgate.gateway.http.HalfClosedClients;
import io.fairgate.gateway.http.ProxyProtocol;
import io.fairgate.gateway.lease.LeaseConfiguration;
import io.fairgate.gateway.log.ClientFaults;
import io.fairgate.gateway.redis.BackendConfiguration;
import io.fairgate.gateway.throttle.policy.ThrottleConfiguration;
import io.fairgate.gateway.trace.TraceConfiguration;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.policyfile.PolicyHealth;
import io.fairgate.spring.policyfile.PolicyReload;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** The configuration that the program adds to Boot and to Fairgate's starter. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@EnableConfigurationProperties({ClientSettings.class, ManagementSettings.class})
@Import({
    StrictHttp.class,
    IdleTimeout.class,
    BackendConfiguration.class,
    LeaseConfiguration.class,
    ThrottleConfiguration.class,
    TraceConfiguration.class
})
class GatewayApplication {

    @Bean
    ClientFaults clientFaults(MeterRegistry registry) {
        return new ClientFaults(registry);
    }

    /** The version of the program in {@code /actuator/info}; the policy adds itself. */
    @Bean
    InfoContributor versionInfo() {
        return info -> info.withDetail("version", Version.text())
                .withDetail("java", Runtime.version().toString());
    }

    /** {@code policy} in the health of the program. */
    @Bean
    PolicyHealth policyHealthIndicator(PolicyReload reload) {
        return new PolicyHealth(reload);
    }

    /** For the traffic port only. */
    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> proxyProtocol(
            PolicyHolder policy, ClientSettings clients) {
        Duration headers = clients.headerTime().value();
        return factory -> factory.addServerCustomizers(server -> ProxyProtocol.from(
                server, peer -> policy.current().identification().proxies().useProtocol(peer), headers));
    }

    /** For the traffic port only. */
    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> halfClosedClients(ClientSettings clients) {
        return factory -> {
            if (clients.halfClosed() == ClientSettings.OnHalfClose.SERVE) {
                factory.addServerCustomizers(HalfClosedClients::servedBy);
            }
        };
    }
}

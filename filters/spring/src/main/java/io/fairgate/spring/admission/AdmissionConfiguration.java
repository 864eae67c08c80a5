package io.fairgate.spring.admission;

import io.fairgate.policy.Policy;
import io.fairgate.spring.exchange.RequestTraces;
import io.fairgate.spring.fairshare.PermitPools;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.Decisions;
import io.fairgate.spring.refusal.RecordLog;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.time.MonotonicScheduler;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.InstantSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** The admission of requests, and {@link TenantAccess} for APIs without routes. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import({Admission.class, TenantAccess.class})
public class AdmissionConfiguration {

    /** For every server of the application that serves routes. */
    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> fairgateUnknownFrames() {
        return factory -> factory.addServerCustomizers(UnknownFrames::ignoredBy);
    }

    @Bean
    LateConnections fairgateLateConnections(Environment environment) {
        return new LateConnections(
                new DefaultChannelGroup(GlobalEventExecutor.INSTANCE),
                "immediate".equalsIgnoreCase(environment.getProperty("server.shutdown")));
    }

    @Bean
    OpenServers fairgateOpenServers(LateConnections late) {
        return new OpenServers(late);
    }

    /** The same servers as above. */
    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> fairgateServersToClose(OpenServers servers) {
        return factory -> factory.addServerCustomizers(servers::remember);
    }

    @Bean
    GracefulShutdown fairgateGracefulShutdown(
            OpenServers servers,
            LateConnections late,
            PermitPools pools,
            RefusalMeters refusals,
            FairgateProperties properties,
            Environment environment) {
        GracefulShutdown shutdown = new GracefulShutdown(
                servers,
                late,
                pools,
                refusals,
                properties.shutdownGrace().value(),
                properties.drainTime().value(),
                MonotonicScheduler.INSTANCE);
        shutdown.warnIfLongerThan(environment.getProperty(GracefulShutdown.TIMEOUT, "30s")); // Boot's default
        return shutdown;
    }

    @Bean
    AmbiguousPaths fairgateAmbiguousPaths(
            PolicyHolder policy, Decisions decisions, RefusalMeters refusals, FairgateProperties properties) {
        return new AmbiguousPaths(
                policy, decisions, refusals, properties.ambiguousPaths() == FairgateProperties.OnAmbiguousPath.PASS);
    }

    @Bean
    StrictRequests fairgateStrictRequests(
            RefusalMeters refusals, AccessLog accessLog, RouteMeters meters, FairgateProperties properties) {
        return new StrictRequests(refusals, accessLog, meters, properties.allowTrace());
    }

    @Bean
    AccessLog fairgateAccessLog(
            FairgateProperties properties,
            PolicyHolder policy,
            RefusalMeters meters,
            ObjectProvider<RequestTraces> traces) {
        RecordLog records =
                properties.accessLog() ? new RecordLog(RecordLog.ACCESS, meters.recordsLost(RecordLog.ACCESS)) : null;
        return new AccessLog(
                records,
                policy,
                traces.getIfAvailable(() -> RequestTraces.NONE),
                InstantSource.system(),
                MonotonicScheduler.INSTANCE);
    }
}

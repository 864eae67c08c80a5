package io.fairgate.spring.overload;

import io.fairgate.policy.Policy;
import io.fairgate.spring.metrics.Meter;
import io.fairgate.spring.policy.PolicyHolder;
import io.fairgate.spring.refusal.RefusalMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** The protection from overload. The management port has a context of its own, which these beans do not change. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import(OverloadGuard.class)
public class OverloadConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LoopTime fairgateLoopTime() {
        return new LoopTime.Real();
    }

    @Bean
    EventLoops fairgateEventLoops(FairgateProperties properties, LoopTime time) {
        return new EventLoops(properties.overload().maxLag().value(), time);
    }

    @Bean
    NewConnections fairgateNewConnections(EventLoops loops, PolicyHolder policy, RefusalMeters refusals) {
        return new NewConnections(loops, policy, refusals.connectionsRefused(true), refusals.connectionsRefused(false));
    }

    @Bean
    MeterBinder fairgateEventLoopLag(EventLoops loops) {
        return registry -> Meter.EVENT_LOOP_LAG.register(registry, Tags.empty(), loops::highestLagSeconds);
    }

    @Bean
    WebServerFactoryCustomizer<NettyReactiveWebServerFactory> fairgateEventLoopsOfClients(
            EventLoops loops, NewConnections connections) {
        return factory -> factory.addServerCustomizers(
                server -> server.doOnChannelInit((observer, channel, remote) -> loops.watch(channel.eventLoop()))
                        .doOnBound(bound -> bound.channel().pipeline().addFirst(connections)));
    }
}

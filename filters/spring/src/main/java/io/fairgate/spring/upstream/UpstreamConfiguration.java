package io.fairgate.spring.upstream;

import io.fairgate.policy.Policy;
import io.fairgate.time.MonotonicScheduler;
import java.net.InetAddress;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import reactor.core.scheduler.Schedulers;
import reactor.netty.http.client.HttpClient;

/** The upstreams with several instances. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@Import(UpstreamFilter.class)
public class UpstreamConfiguration {

    @Bean
    Upstreams fairgateUpstreams(Policy policy, InstanceMeters meters, InstanceWatch watch) {
        return new Upstreams(policy, MonotonicScheduler.INSTANCE, meters, watch);
    }

    @Bean
    InstanceWatch fairgateInstanceWatch(ObjectProvider<HttpClient> client) {
        return new InstanceWatch(
                MonotonicScheduler.INSTANCE,
                Schedulers.boundedElastic(),
                InetAddress::getAllByName,
                new InstanceCheck(client.getIfAvailable(HttpClient::create), MonotonicScheduler.INSTANCE));
    }

    @Bean
    HttpClientCustomizer fairgateInstanceUses() {
        return InstanceUse.NOTED;
    }
}

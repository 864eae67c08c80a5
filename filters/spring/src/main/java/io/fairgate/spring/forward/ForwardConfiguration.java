package io.fairgate.spring.forward;

import io.fairgate.policy.Policy;
import io.fairgate.spring.admission.Admission;
import io.fairgate.spring.proxy.ForwardedFields;
import io.fairgate.spring.refusal.RouteMeters;
import io.fairgate.spring.settings.FairgateProperties;
import io.fairgate.spring.upstream.Upstreams;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import reactor.netty.http.client.HttpClient;

/** Forwards requests: directly where a route allows it, otherwise by Spring Cloud Gateway's chain of filters. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@ConditionalOnProperty(name = GatewayProperties.PREFIX + ".enabled", matchIfMissing = true)
@Import({ForwardingReport.class, ResponseConnectionFilter.class})
public class ForwardConfiguration {

    @Bean
    DirectRoutes fairgateDirectRoutes(
            List<GlobalFilter> globalFilters,
            ObjectProvider<List<HttpHeadersFilter>> headersFilters,
            RouteMeters meters,
            HttpClient client,
            HttpClientProperties clientProperties,
            GatewayProperties properties,
            FairgateProperties settings,
            ForwardedFields forwarded,
            Upstreams upstreams) {
        return new DirectRoutes(
                globalFilters,
                headersFilters.getIfAvailable(List::of),
                meters,
                client,
                clientProperties,
                properties,
                settings.forwarding(),
                forwarded,
                upstreams);
    }

    /** In the place of Spring Cloud Gateway's own handler, which its mapping of routes would get otherwise. */
    @Bean
    @Primary
    RouteHandler fairgateRouteHandler(
            List<GlobalFilter> globalFilters,
            GatewayProperties properties,
            DirectRoutes routes,
            Upstreams upstreams,
            Admission admission) {
        return new RouteHandler(globalFilters, properties, routes, upstreams, admission);
    }

    @Bean
    ResponseTimeoutFilter fairgateResponseTimeout(HttpClientProperties properties, RouteMeters meters) {
        return new ResponseTimeoutFilter(properties, meters);
    }

    @Bean
    HttpClientCustomizer fairgateStrictResponses() {
        return StrictResponses.REQUIRED;
    }

    @Bean
    HttpClientCustomizer fairgateInterimResponses() {
        return InterimResponses.DROPPED;
    }

    @Bean
    HttpClientCustomizer fairgateUpstreamBodyIdleTimeout(FairgateProperties properties) {
        return new UpstreamBodyIdleTimeout(
                properties.upstreamBodyIdle().value(),
                properties.clients().readPause().value());
    }
}

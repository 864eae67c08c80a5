package io.fairgate.spring.websocket;

import io.fairgate.policy.Policy;
import io.fairgate.spring.settings.FairgateProperties;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.config.HttpClientCustomizer;
import org.springframework.cloud.gateway.config.HttpClientProperties;
import org.springframework.cloud.gateway.filter.headers.HttpHeadersFilter;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.netty.http.client.HttpClient;

/** Passes WebSockets through as they are, in the place of Spring Cloud Gateway's {@code WebsocketRoutingFilter}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBean(Policy.class)
@ConditionalOnProperty(name = GatewayProperties.PREFIX + ".enabled", matchIfMissing = true)
public class WebSocketConfiguration {

    @Bean
    HandshakeFilter fairgateHandshakeFilter(
            HttpClient client,
            HttpClientProperties properties,
            ObjectProvider<List<HttpHeadersFilter>> headersFilters) {
        return new HandshakeFilter(client, properties, headersFilters.getIfAvailable(List::of));
    }

    @Bean
    TunnelFilter fairgateTunnelFilter(FairgateProperties properties) {
        return new TunnelFilter(properties.websocketIdle().value());
    }

    @Bean
    HttpClientCustomizer fairgateSwitchedProtocols() {
        return SwitchedProtocols.CHECKED;
    }
}

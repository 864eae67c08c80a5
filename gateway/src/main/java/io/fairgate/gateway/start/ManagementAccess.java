package io.fairgate.gateway.start;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebFilter;

/** What requests to the management port may be. The port has an application context of its own. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ManagementAccess {

    /** A policy of 20,000 members. */
    private static final int LARGEST_BODY = 2 * 1024 * 1024;

    @Bean
    ManagementRequests managementRequests(ManagementSettings settings) {
        return new ManagementRequests(settings);
    }

    @Bean
    WebFluxConfigurer largestBody() {
        return new WebFluxConfigurer() {
            @Override
            public void configureHttpMessageCodecs(ServerCodecConfigurer codecs) {
                codecs.defaultCodecs().maxInMemorySize(LARGEST_BODY);
            }
        };
    }

    /** Spring Boot (4.0.7) fails on a path with two parts below health of which the first is unknown: 500 and a stack trace. */
    @Bean
    WebFilter unknownHealth() {
        return (exchange, chain) -> chain.filter(exchange)
                .onErrorMap(
                        failure -> failure instanceof IllegalStateException
                                && String.valueOf(failure.getMessage()).startsWith("'contributor'"),
                        failure -> new ResponseStatusException(HttpStatus.NOT_FOUND));
    }
}

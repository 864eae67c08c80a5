package io.fairgate.gateway.start;

import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextType;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.WebFilter;

/** Filters of requests to the management port. The port has an application context of its own. */
@ManagementContextConfiguration(value = ManagementContextType.CHILD, proxyBeanMethods = false)
class ManagementAccess {

    @Bean
    ManagementRequests managementRequests(ManagementSettings settings) {
        return new ManagementRequests(settings);
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

package io.fairgate.gateway.library;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Makes the filter of the library a bean of the gateway. */
@AutoConfiguration
public class GreetingAutoConfiguration {

    @Bean
    GreetingGatewayFilterFactory greetingGatewayFilterFactory() {
        return new GreetingGatewayFilterFactory();
    }
}

package io.fairgate.gateway.library;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Makes what the library has beans of the gateway. */
@AutoConfiguration
public class GreetingAutoConfiguration {

    @Bean
    GreetingGatewayFilterFactory greetingGatewayFilterFactory() {
        return new GreetingGatewayFilterFactory();
    }

    @Bean
    AccountResolver accounts() {
        return new AccountResolver();
    }
}

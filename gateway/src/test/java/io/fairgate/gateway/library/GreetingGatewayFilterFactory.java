package io.fairgate.gateway.library;

import java.util.List;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;

/** The filter {@code Greeting=name} of a library: a header for the upstream. */
public class GreetingGatewayFilterFactory extends AbstractGatewayFilterFactory<GreetingGatewayFilterFactory.Config> {

    public GreetingGatewayFilterFactory() {
        super(Config.class);
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("name");
    }

    @Override
    public GatewayFilter apply(Config config) {
        return (exchange, chain) -> chain.filter(exchange.mutate()
                .request(request -> request.header("X-Greeting", "Hello " + config.name))
                .build());
    }

    public static class Config {
        private String name = "";

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }
    }
}

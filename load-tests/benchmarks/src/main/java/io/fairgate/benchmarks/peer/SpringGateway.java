package io.fairgate.benchmarks.peer;

import io.fairgate.benchmarks.process.ParentProcess;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;

/**
 * A Spring Cloud Gateway as its documentation begins: the starter, and routes in the configuration, which are options
 * here.
 */
@SpringBootApplication
public class SpringGateway {

    static final String TENANT = "X-Tenant-Id";

    private static final String REDIS_PACKAGE = "org.springframework.boot.data.redis.autoconfigure.";

    /** Excluded where there is no Redis: it is on the class path, and Spring Boot configures what it finds there. */
    public static final String REDIS_CONFIGURATION =
            REDIS_PACKAGE + "DataRedisAutoConfiguration," + REDIS_PACKAGE + "DataRedisReactiveAutoConfiguration";

    /** Runs until it is killed, or its parent process has ended. */
    public static void main(String[] args) {
        ParentProcess.endWithIt();
        ConfigurableApplicationContext context = SpringApplication.run(SpringGateway.class, args);
        System.out.println("port " + context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    /** Whom a {@code RequestRateLimiter} limits. */
    @Bean
    KeyResolver tenantKeyResolver() {
        return exchange -> Mono.justOrEmpty(exchange.getRequest().getHeaders().getFirst(TENANT));
    }
}

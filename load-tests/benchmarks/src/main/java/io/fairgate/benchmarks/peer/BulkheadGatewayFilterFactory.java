package io.fairgate.benchmarks.peer;

import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadFullException;
import io.github.resilience4j.bulkhead.BulkheadRegistry;
import io.github.resilience4j.reactor.bulkhead.operator.BulkheadOperator;
import java.time.Duration;
import java.util.List;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.NettyWriteResponseFilter;
import org.springframework.cloud.gateway.filter.OrderedGatewayFilter;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;

/**
 * {@code Bulkhead=N}: a bulkhead of Resilience4j for each tenant, through its operator for Reactor. Spring Cloud
 * Gateway's own filter for Resilience4j has one for all requests of a route.
 *
 * <p>A request that finds the bulkhead full is refused at once, because a bulkhead with a {@code maxWaitDuration}
 * blocks the thread that asks, which is an event loop here. The order makes the filter hold its place until the
 * response is written.
 */
@Component
class BulkheadGatewayFilterFactory extends AbstractGatewayFilterFactory<BulkheadGatewayFilterFactory.Config> {

    /** The argument of the filter, which Spring binds by its setter. */
    static class Config {

        private int calls;

        public int getCalls() {
            return calls;
        }

        public void setCalls(int calls) {
            this.calls = calls;
        }
    }

    BulkheadGatewayFilterFactory() {
        super(Config.class);
    }

    @Override
    public List<String> shortcutFieldOrder() {
        return List.of("calls");
    }

    @Override
    public GatewayFilter apply(Config config) {
        BulkheadRegistry bulkheads = BulkheadRegistry.of(BulkheadConfig.custom()
                .maxConcurrentCalls(config.getCalls())
                .maxWaitDuration(Duration.ZERO)
                .build());
        GatewayFilter filter = (exchange, chain) -> {
            String tenant = exchange.getRequest().getHeaders().getFirst(SpringGateway.TENANT);
            return chain.filter(exchange)
                    .transformDeferred(BulkheadOperator.of(bulkheads.bulkhead(tenant == null ? "none" : tenant)))
                    .onErrorResume(BulkheadFullException.class, full -> {
                        exchange.getResponse().setStatusCode(HttpStatus.TOO_MANY_REQUESTS);
                        return exchange.getResponse().setComplete();
                    });
        };
        return new OrderedGatewayFilter(filter, NettyWriteResponseFilter.WRITE_RESPONSE_FILTER_ORDER - 1);
    }
}

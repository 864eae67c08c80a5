package io.fairgate.spring;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.Ordered;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * The orderly end: from the moment the application stops, new requests are refused, waiting ones are served for a
 * while and then refused, and those in flight are finished.
 *
 * <p>As the lifecycle that stops first it runs while the web server and the management port still answer, so that the
 * readiness probe, which Boot has set to refusing before, can be seen. Spring bounds how long it takes
 * ({@code spring.lifecycle.timeout-per-shutdown-phase}).
 */
final class Drain implements GlobalFilter, Ordered, SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(Drain.class);

    private final PermitPools pools;
    private final FairgateMeters meters;
    private final Duration drainTime;
    private volatile boolean running;
    private volatile boolean draining;
    private volatile Disposable closing = Disposables.disposed();

    Drain(PermitPools pools, FairgateMeters meters, Duration drainTime) {
        this.pools = pools;
        this.meters = meters;
        this.drainTime = drainTime;
    }

    @Override
    public int getOrder() {
        return FilterOrder.DRAIN.order();
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        return Mono.defer(() -> {
            if (draining) {
                meters.drainRefused();
                return Mono.error(new DrainingException());
            }
            return chain.filter(exchange);
        });
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop(Runnable whenDone) {
        log.info("Draining: new requests are refused, waiting ones are served for up to {}.", drainTime);
        draining = true;
        closing = pools.close(drainTime).doFinally(end -> finished(whenDone)).subscribe();
    }

    private void finished(Runnable whenDone) {
        running = false;
        log.info("Drained: nothing waits and nothing is in flight.");
        whenDone.run();
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}

package io.fairgate.spring.policyfile;

import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionLocator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import reactor.core.publisher.Flux;

/**
 * The definitions of the routes that are in force. Spring Cloud Gateway keeps the routes that it has built from them, and
 * replaces all of them at once on request.
 */
final class LiveRoutes implements RouteDefinitionLocator, ApplicationListener<RefreshRoutesResultEvent> {

    private final ApplicationEventPublisher events;
    private volatile PolicyRoutes current;
    private volatile RefreshRoutesResultEvent result = new RefreshRoutesResultEvent(this);

    LiveRoutes(PolicySource source, ApplicationEventPublisher events) {
        this.current = PolicyRoutes.of(source.name(), source.first().routes());
        this.events = events;
    }

    PolicyRoutes current() {
        return current;
    }

    @Override
    public Flux<RouteDefinition> getRouteDefinitions() {
        return Flux.defer(() -> Flux.fromIterable(current.routes())).map(PolicyRoutes.PolicyRoute::definition);
    }

    /** @throws IllegalStateException when the routes cannot be built; then the previous ones are in force again */
    void replace(PolicyRoutes next) {
        PolicyRoutes before = current;
        current = next;
        if (!refresh()) {
            Throwable failure = result.getThrowable();
            current = before;
            refresh();
            throw new IllegalStateException("the routes cannot be built: " + failure, failure);
        }
    }

    /** Synchronous: the definitions are in memory, so the routes have been built when the event has been published. */
    private boolean refresh() {
        events.publishEvent(new RefreshRoutesEvent(this));
        return result.isSuccess();
    }

    @Override
    public void onApplicationEvent(RefreshRoutesResultEvent event) {
        result = event;
    }
}

package io.fairgate.gateway.policy;

import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionLocator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import reactor.core.publisher.Flux;

/**
 * The routes that are in force. Spring Cloud Gateway keeps the routes that it has built of them, and swaps them all at
 * once when it is asked to.
 */
final class LiveRoutes implements RouteDefinitionLocator, ApplicationListener<RefreshRoutesResultEvent> {

    private final ApplicationEventPublisher events;
    private volatile PolicyRoutes current;
    private volatile RefreshRoutesResultEvent result = new RefreshRoutesResultEvent(this);

    LiveRoutes(PolicyRoutes first, ApplicationEventPublisher events) {
        this.current = first;
        this.events = events;
    }

    PolicyRoutes current() {
        return current;
    }

    @Override
    public Flux<RouteDefinition> getRouteDefinitions() {
        return Flux.defer(() -> Flux.fromIterable(current.routes())).map(PolicyRoutes.PolicyRoute::definition);
    }

    /** @throws IllegalStateException when they cannot be built; those that were in force before are so again */
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

    /** Everything is done when the event has been published: the definitions are there, and nothing else is waited for. */
    private boolean refresh() {
        events.publishEvent(new RefreshRoutesEvent(this));
        return result.isSuccess();
    }

    @Override
    public void onApplicationEvent(RefreshRoutesResultEvent event) {
        result = event;
    }
}

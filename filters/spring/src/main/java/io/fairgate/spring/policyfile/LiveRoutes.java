package io.fairgate.spring.policyfile;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.event.RefreshRoutesEvent;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.route.RouteDefinitionLocator;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationListener;
import org.springframework.core.NestedExceptionUtils;
import reactor.core.publisher.Flux;

/**
 * The definitions of the routes that are in force. Spring Cloud Gateway keeps the routes that it has built from them, and
 * replaces all of them at once on request.
 */
final class LiveRoutes implements RouteDefinitionLocator, ApplicationListener<RefreshRoutesResultEvent> {

    private static final Logger log = LoggerFactory.getLogger(LiveRoutes.class);
    /** What is expected of routes. */
    static final String BUILDABLE = "routes that can be built, together with those of the application";

    private static final Duration LONGEST_BUILD = Duration.ofSeconds(10);

    private final ApplicationEventPublisher events;
    private volatile PolicyRoutes current;
    private volatile CompletableFuture<RefreshRoutesResultEvent> result = new CompletableFuture<>();

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

    /**
     * Blocks until the routes are built.
     *
     * @throws InvalidPolicyException when the routes cannot be built; then the previous ones are in force again
     */
    void replace(PolicyRoutes next) {
        PolicyRoutes before = current;
        current = next;
        String failure = refresh();
        if (failure != null) {
            current = before;
            refresh();
            throw new InvalidPolicyException(
                    List.of(new Mistake(next.file(), 1, "routes", failure, BUILDABLE)), PolicyFile.NOTHING);
        }
    }

    /**
     * Has all routes built. Those of the policy file are in memory, but the application may have others that are built later, or elsewhere.
     *
     * @return why they cannot be built; null if they are
     */
    private @Nullable String refresh() {
        CompletableFuture<RefreshRoutesResultEvent> built = new CompletableFuture<>();
        result = built;
        try {
            events.publishEvent(new RefreshRoutesEvent(this));
            RefreshRoutesResultEvent end = built.get(LONGEST_BUILD.toSeconds(), TimeUnit.SECONDS);
            return end.isSuccess() ? null : message(end.getThrowable());
        } catch (TimeoutException e) {
            return "not built within %d s".formatted(LONGEST_BUILD.toSeconds());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        } catch (ExecutionException | RuntimeException e) {
            log.warn("The routes cannot be built", e);
            return message(e);
        }
    }

    /** What our own filters expect is at the end of their message. */
    private static String message(@Nullable Throwable failure) {
        String message = failure == null
                ? "failed"
                : String.valueOf(
                        NestedExceptionUtils.getMostSpecificCause(failure).getMessage());
        return message.endsWith(")")
                ? message.replace(" (expected: ", "; expected: ").replaceFirst("\\)$", "")
                : message;
    }

    @Override
    public void onApplicationEvent(RefreshRoutesResultEvent event) {
        result.complete(event);
    }
}

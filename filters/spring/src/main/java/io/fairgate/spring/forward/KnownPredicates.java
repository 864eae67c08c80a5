package io.fairgate.spring.forward;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import org.springframework.cloud.gateway.handler.predicate.GatewayPredicate;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.HasConfig;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.CoreSubscriber;

/**
 * Predicates of Spring Cloud Gateway that decide at once, by the request alone, so that they may be asked twice. Others
 * may wait, for the body of the request or for keys that verify a token, or depend on a weight that is drawn before.
 */
final class KnownPredicates {

    private static final Set<String> FACTORIES = Stream.of(
                    "After", "Before", "Between", "Cookie", "Header", "Host", "Method", "Path", "Query", "RemoteAddr")
            .map(KnownPredicates::factory)
            .collect(Collectors.toUnmodifiableSet());

    private KnownPredicates() {}

    private static String factory(String name) {
        return "org.springframework.cloud.gateway.handler.predicate." + name + "RoutePredicateFactory";
    }

    /** The routes before the first one that has an unknown predicate. */
    static List<Route> firstOf(List<Route> routes) {
        return routes.stream()
                .takeWhile(route -> factories(route).stream().allMatch(FACTORIES::contains))
                .toList();
    }

    /** The names of the classes that have made the predicates of a route; an empty name for any other predicate. */
    private static List<String> factories(Route route) {
        List<String> found = new ArrayList<>();
        route.getPredicate().accept(predicate -> found.add(factory(predicate)));
        return found.isEmpty() ? List.of("") : found;
    }

    private static String factory(HasConfig predicate) {
        Class<?> factory = predicate.getClass().getEnclosingClass();
        return predicate instanceof GatewayPredicate && factory != null ? factory.getName() : "";
    }

    /** Whether a route matches; all its predicates must be known. */
    static boolean match(Route route, ServerWebExchange exchange) {
        Publisher<Boolean> result = route.getPredicate().apply(exchange);
        if (result instanceof Callable<?> known) {
            try {
                return Boolean.TRUE.equals(known.call());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
        Result several = new Result();
        result.subscribe(several);
        return several.get();
    }

    /** The result of several predicates, which is there when their publisher has been subscribed. */
    private static final class Result implements CoreSubscriber<Boolean> {

        private @Nullable Boolean value;

        boolean get() {
            if (value == null) {
                throw new IllegalStateException("the predicates have not decided at once");
            }
            return value;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Boolean matches) {
            value = matches;
        }

        @Override
        public void onError(Throwable failure) {
            // Without a value, get() throws.
        }

        @Override
        public void onComplete() {}
    }
}

package io.fairgate.gateway.policy;

import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.gateway.policy.PolicyRoutes.PolicyRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.PredicateDefinition;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.ConfigurationService;

/**
 * Checks the routes of the policy file before they serve a request: that their filters and predicates exist, that no argument
 * would be ignored, and that the routes can be built.
 */
public final class RouteCheck implements SmartInitializingSingleton {

    private final LiveRoutes routes;
    private final Map<String, GatewayFilterFactory<?>> filters = new TreeMap<>();
    private final Map<String, RoutePredicateFactory<?>> predicates = new TreeMap<>();
    private final RouteLocator locator;
    private final ConfigurationService arguments;

    RouteCheck(
            LiveRoutes routes,
            List<GatewayFilterFactory<?>> filters,
            List<RoutePredicateFactory<?>> predicates,
            RouteLocator locator,
            ConfigurationService arguments) {
        this.routes = routes;
        filters.forEach(factory -> this.filters.put(factory.name(), factory));
        predicates.forEach(factory -> this.predicates.put(factory.name(), factory));
        this.locator = locator;
        this.arguments = arguments;
    }

    /** @throws InvalidRouteException naming every mistake with its line */
    @Override
    public void afterSingletonsInstantiated() {
        require(routes.current());
        buildAll();
    }

    /**
     * Checks routes that are not in force. The pools that they name must exist.
     *
     * @throws InvalidRouteException naming every mistake with its line
     */
    public void require(PolicyRoutes candidate) {
        List<Mistake> mistakes = namesAndArguments(candidate);
        if (mistakes.isEmpty()) {
            mistakes = ofEach(candidate, this::build, this::build);
        }
        if (!mistakes.isEmpty()) {
            throw new InvalidRouteException(mistakes);
        }
    }

    /** The checks that need no pools: unknown filters and predicates, and arguments that would be ignored. */
    List<Mistake> namesAndArguments(PolicyRoutes candidate) {
        RouteArguments ofFilters = new RouteArguments("filter", filters);
        RouteArguments ofPredicates = new RouteArguments("predicate", predicates);
        return ofEach(
                candidate,
                (filter, place) -> {
                    List<Mistake> mistakes = new ArrayList<>();
                    ofFilters.check(String.valueOf(filter.getName()), filter.getArgs(), place.into(mistakes));
                    return mistakes;
                },
                (predicate, place) -> {
                    List<Mistake> mistakes = new ArrayList<>();
                    ofPredicates.check(String.valueOf(predicate.getName()), predicate.getArgs(), place.into(mistakes));
                    return mistakes;
                });
    }

    /** The place of a filter or a predicate in the file. */
    private record Place(String file, RouteDeclaration route, int line, String key) {

        Mistake mistake(String found, String expected) {
            return new Mistake(file, line, key, route.withoutSecrets(found), route.withoutSecrets(expected));
        }

        BiConsumer<String, String> into(List<Mistake> mistakes) {
            return (found, expected) -> mistakes.add(mistake(found, expected));
        }
    }

    /** Collects the mistakes of each filter and each predicate, with their places. */
    private static List<Mistake> ofEach(
            PolicyRoutes routes,
            BiFunction<FilterDefinition, Place, List<Mistake>> ofFilter,
            BiFunction<PredicateDefinition, Place, List<Mistake>> ofPredicate) {
        List<Mistake> mistakes = new ArrayList<>();
        for (PolicyRoute route : routes.routes()) {
            String key = "routes[%d].".formatted(route.declaration().index());
            List<FilterDefinition> filters = route.definition().getFilters();
            for (int i = 0; i < filters.size(); i++) {
                int line = route.declaration().filterLines().get(i);
                mistakes.addAll(ofFilter.apply(
                        filters.get(i),
                        new Place(routes.file(), route.declaration(), line, "%sfilters[%d]".formatted(key, i))));
            }
            List<PredicateDefinition> predicates = route.definition().getPredicates();
            for (int i = 0; i < predicates.size(); i++) {
                int line = route.declaration().predicateLines().get(i);
                mistakes.addAll(ofPredicate.apply(
                        predicates.get(i),
                        new Place(routes.file(), route.declaration(), line, "%spredicates[%d]".formatted(key, i))));
            }
        }
        return mistakes;
    }

    /** Builds every route, as the first request would, so that errors occur now and not then. */
    private void buildAll() {
        List<Mistake> mistakes = new ArrayList<>();
        var unused = locator.getRoutes()
                .subscribe(
                        route -> {},
                        e -> mistakes.add(new Mistake(
                                routes.current().file(), 1, "routes", rootMessage(e), "routes that can be built")));
        if (!mistakes.isEmpty()) {
            throw new InvalidRouteException(mistakes);
        }
    }

    /** Builds a filter or predicate on its own, so that its mistake has a line, and the others are checked as well. */
    private List<Mistake> build(FilterDefinition definition, Place place) {
        String name = String.valueOf(definition.getName());
        GatewayFilterFactory<?> factory = Objects.requireNonNull(filters.get(name));
        return whatThrows(place, name, () -> build(factory, definition));
    }

    private <C> void build(GatewayFilterFactory<C> factory, FilterDefinition definition) {
        factory.apply(arguments
                .with(factory)
                .name(definition.getName())
                .properties(definition.getArgs())
                .bind());
    }

    private List<Mistake> build(PredicateDefinition definition, Place place) {
        String name = String.valueOf(definition.getName());
        RoutePredicateFactory<?> factory = Objects.requireNonNull(predicates.get(name));
        return whatThrows(place, name, () -> build(factory, definition));
    }

    private <C> void build(RoutePredicateFactory<C> factory, PredicateDefinition definition) {
        factory.applyAsync(arguments
                .with(factory)
                .name(definition.getName())
                .properties(definition.getArgs())
                .bind());
    }

    /** Our own factories say in the message what they expected; for others the message is all that is known. */
    private static List<Mistake> whatThrows(Place place, String name, Runnable build) {
        try {
            build.run();
            return List.of();
        } catch (RuntimeException e) {
            String message = rootMessage(e);
            String told = message.startsWith(name) ? message : name + ": " + message;
            int expected = told.indexOf(" (expected: ");
            return List.of(
                    expected < 0 || !told.endsWith(")")
                            ? place.mistake(told, "arguments that " + name + " takes")
                            : place.mistake(
                                    told.substring(0, expected),
                                    told.substring(expected + " (expected: ".length(), told.length() - 1)));
        }
    }

    private static String rootMessage(Throwable e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return String.valueOf(root.getMessage()).lines().collect(Collectors.joining(" "));
    }
}

package io.fairgate.gateway;

import io.fairgate.config.Nearest;
import io.fairgate.gateway.PolicyRoutes.PolicyRoute;
import java.beans.PropertyDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.PredicateDefinition;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.Configurable;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.cloud.gateway.support.NameUtils;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.cloud.gateway.support.ShortcutConfigurable.ShortcutType;

/**
 * Checks the routes of the policy file before anything is served: that their filters and predicates exist, that none
 * of their arguments would be ignored ({@code RequestSize=1KB} would, silently), and that they can be built at all.
 */
final class RouteCheck implements SmartInitializingSingleton {

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
     * The same for routes that are not in force. The pools that they name must be there.
     *
     * @throws InvalidRouteException naming every mistake with its line
     */
    void require(PolicyRoutes candidate) {
        List<String> mistakes = ofEach(
                candidate,
                (at, filter) -> check(at, "filter", String.valueOf(filter.getName()), filter.getArgs(), this.filters),
                (at, predicate) -> check(
                        at, "predicate", String.valueOf(predicate.getName()), predicate.getArgs(), this.predicates));
        if (mistakes.isEmpty()) {
            mistakes = ofEach(candidate, this::buildFilter, this::buildPredicate);
        }
        if (!mistakes.isEmpty()) {
            throw new InvalidRouteException(mistakes);
        }
    }

    /** Asks for the mistakes of each filter and each predicate, by where it is. */
    private static List<String> ofEach(
            PolicyRoutes routes,
            BiFunction<String, FilterDefinition, List<String>> ofFilter,
            BiFunction<String, PredicateDefinition, List<String>> ofPredicate) {
        List<String> mistakes = new ArrayList<>();
        for (int r = 0; r < routes.routes().size(); r++) {
            PolicyRoute route = routes.routes().get(r);
            List<FilterDefinition> filterDefinitions = route.definition().getFilters();
            for (int i = 0; i < filterDefinitions.size(); i++) {
                String at = at(routes, r, route.declaration().filterLines().get(i), "filters", i);
                mistakes.addAll(ofFilter.apply(at, filterDefinitions.get(i)));
            }
            List<PredicateDefinition> predicateDefinitions = route.definition().getPredicates();
            for (int i = 0; i < predicateDefinitions.size(); i++) {
                String at = at(routes, r, route.declaration().predicateLines().get(i), "predicates", i);
                mistakes.addAll(ofPredicate.apply(at, predicateDefinitions.get(i)));
            }
        }
        return mistakes;
    }

    /** As the reader of the file names it. */
    private static String at(PolicyRoutes routes, int route, int line, String key, int index) {
        return "%s:%d: routes[%d].%s[%d]: ".formatted(routes.file(), line, route, key, index);
    }

    private static List<String> check(
            String at,
            String kind,
            String name,
            Map<String, String> args,
            Map<String, ? extends ShortcutConfigurable> known) {
        ShortcutConfigurable factory = known.get(name);
        if (factory == null) {
            return List.of(
                    "%s%s: unknown %s (expected: %s)".formatted(at, name, kind, Nearest.oneOf(name, known.keySet())));
        }
        Class<?> config =
                factory instanceof Configurable<?> configurable ? configurable.getConfigClass() : Object.class;
        if (!isBean(config) || factory.shortcutType() != ShortcutType.DEFAULT) {
            return List.of();
        }
        Set<String> taken = properties(config);
        int shortcuts = factory.shortcutFieldOrder().size();
        List<String> mistakes = new ArrayList<>();
        args.forEach((key, value) -> {
            boolean byPosition = key.startsWith(NameUtils.GENERATED_NAME_PREFIX);
            if (byPosition && position(key) >= shortcuts) {
                mistakes.add("%s%s: %s would be ignored (expected: %s, or the long form with name and args)"
                        .formatted(at, name, value, shortcutForm(name, factory.shortcutFieldOrder())));
            } else if (!byPosition && !taken.contains(plain(key))) {
                mistakes.add("%s%s: %s would be ignored (expected: one of %s)".formatted(at, name, key, taken));
            }
        });
        return mistakes;
    }

    private static String shortcutForm(String name, List<String> fields) {
        return fields.isEmpty() ? name + " without arguments" : name + "=" + String.join(",", fields);
    }

    /** Argument classes that are maps or plain objects take what they like. */
    private static boolean isBean(Class<?> config) {
        return config != Object.class
                && !Map.class.isAssignableFrom(config)
                && !properties(config).isEmpty();
    }

    private static int position(String generated) {
        return Integer.parseInt(generated.substring(NameUtils.GENERATED_NAME_PREFIX.length()));
    }

    private static Set<String> properties(Class<?> config) {
        return Arrays.stream(BeanUtils.getPropertyDescriptors(config))
                .map(PropertyDescriptor::getName)
                .filter(name -> !name.equals("class") || takesClass(config))
                .map(RouteCheck::plain)
                .collect(Collectors.toCollection(java.util.TreeSet::new));
    }

    /** Every object has a class; only some take one as an argument. */
    private static boolean takesClass(Class<?> config) {
        return Arrays.stream(config.getMethods())
                .anyMatch(method -> method.getName().equals("setClass"));
    }

    /** Spring takes {@code max-hold}, {@code maxHold} and {@code maxhold} for the same; {@code a.b} and {@code a[0]} are within a. */
    private static String plain(String key) {
        return key.split("[.\\[]", 2)[0].replace("-", "").replace("_", "").toLowerCase(java.util.Locale.ROOT);
    }

    /** Builds every route, as the first request would; what throws now would throw then. */
    private void buildAll() {
        List<String> mistakes = new ArrayList<>();
        var unused = locator.getRoutes()
                .subscribe(
                        route -> {},
                        e -> mistakes.add(
                                "%s: routes: %s".formatted(routes.current().file(), rootMessage(e))));
        if (!mistakes.isEmpty()) {
            throw new InvalidRouteException(mistakes);
        }
    }

    /** Builds one alone, so that what it complains of has a line, and others are built as well. */
    private List<String> buildFilter(String at, FilterDefinition definition) {
        String name = String.valueOf(definition.getName());
        GatewayFilterFactory<?> factory = Objects.requireNonNull(filters.get(name));
        return whatThrows(at, name, () -> build(factory, definition));
    }

    private <C> void build(GatewayFilterFactory<C> factory, FilterDefinition definition) {
        factory.apply(arguments
                .with(factory)
                .name(definition.getName())
                .properties(definition.getArgs())
                .bind());
    }

    private List<String> buildPredicate(String at, PredicateDefinition definition) {
        String name = String.valueOf(definition.getName());
        RoutePredicateFactory<?> factory = Objects.requireNonNull(predicates.get(name));
        return whatThrows(at, name, () -> build(factory, definition));
    }

    private <C> void build(RoutePredicateFactory<C> factory, PredicateDefinition definition) {
        factory.applyAsync(arguments
                .with(factory)
                .name(definition.getName())
                .properties(definition.getArgs())
                .bind());
    }

    private static List<String> whatThrows(String at, String name, Runnable build) {
        try {
            build.run();
            return List.of();
        } catch (RuntimeException e) {
            String message = rootMessage(e);
            return List.of(at + (message.startsWith(name) ? message : name + ": " + message));
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

package io.fairgate.spring.policyfile;

import io.fairgate.config.model.InvalidPolicyException;
import io.fairgate.config.model.Mistake;
import io.fairgate.config.model.PolicyFile;
import io.fairgate.config.model.RouteDeclaration;
import io.fairgate.config.routes.BuiltIns;
import io.fairgate.config.routes.Component;
import io.fairgate.config.yaml.Suggestions;
import io.fairgate.policy.Policy;
import io.fairgate.spring.exchange.RouteRules;
import io.fairgate.spring.fairshare.FairShareRule;
import io.fairgate.spring.policyfile.PolicyRoutes.PolicyRoute;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.factory.GatewayFilterFactory;
import org.springframework.cloud.gateway.handler.predicate.PredicateDefinition;
import org.springframework.cloud.gateway.handler.predicate.RoutePredicateFactory;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.Configurable;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.web.reactive.accept.ApiVersionStrategy;

/**
 * Checks the routes of the policy file before they serve a request: that their filters and predicates exist, that no argument
 * would be ignored, and that the routes can be built.
 */
public final class RouteCheck implements SmartInitializingSingleton {

    /** In the messages of Spring's validation. */
    private static final Pattern FIELD = Pattern.compile("on field '([^']+)': rejected value \\[([^]]*)]");

    private final LiveRoutes routes;
    private final Map<String, GatewayFilterFactory<?>> filters = new TreeMap<>();
    private final Map<String, RoutePredicateFactory<?>> predicates = new TreeMap<>();
    private final RouteLocator locator;
    private final ConfigurationService arguments;
    private final ObjectProvider<ApiVersionStrategy> versions;

    RouteCheck(
            LiveRoutes routes,
            List<GatewayFilterFactory<?>> filters,
            List<RoutePredicateFactory<?>> predicates,
            RouteLocator locator,
            ConfigurationService arguments,
            ObjectProvider<ApiVersionStrategy> versions) {
        this.routes = routes;
        filters.forEach(factory -> this.filters.put(factory.name(), factory));
        predicates.forEach(factory -> this.predicates.put(factory.name(), factory));
        this.locator = locator;
        this.arguments = arguments;
        this.versions = versions;
    }

    /** @throws InvalidPolicyException naming every mistake with its line */
    @Override
    public void afterSingletonsInstantiated() {
        require(routes.current());
        buildAll();
    }

    /**
     * Checks routes that are not in force. The pools that they name must exist.
     *
     * @throws InvalidPolicyException naming every mistake with its line
     */
    public void require(PolicyRoutes candidate) {
        List<Mistake> mistakes = namesAndArguments(candidate);
        throwIfAny(mistakes.isEmpty() ? ofEach(candidate, this::build) : mistakes);
    }

    /** The checks that need no pools: unknown filters and predicates, and arguments that would be ignored. */
    List<Mistake> namesAndArguments(PolicyRoutes candidate) {
        return ofEach(
                candidate,
                (used, mistakes) -> check(
                        used,
                        used.isFilter ? filters : predicates,
                        (found, expected) -> mistakes.add(used.mistake(found, expected))));
    }

    /**
     * Pools that the next policy does not have, although routes of the application use them. Routes that are written in Java are not built
     * again, so a filter of theirs cannot refuse the policy.
     */
    List<Mistake> removedPools(PolicyRoutes next, Policy policy) {
        Set<String> ofTheFile = routes.current().routes().stream()
                .map(route -> route.declaration().id())
                .collect(Collectors.toSet());
        List<Mistake> mistakes = new ArrayList<>();
        var unused = locator.getRoutes()
                .filter(route -> !ofTheFile.contains(route.getId()))
                .subscribe(
                        route -> {
                            FairShareRule rule = RouteRules.of(route).last(FairShareRule.class);
                            if (rule != null && !policy.pools().containsKey(rule.pool())) {
                                mistakes.add(new Mistake(
                                        next.file(),
                                        1,
                                        "pools." + rule.pool(),
                                        "missing",
                                        "this pool, which the route %s of the application uses"
                                                .formatted(route.getId())));
                            }
                        },
                        e -> {}); // That they cannot be built is found when they are built.
        return mistakes;
    }

    private void check(
            Used used, Map<String, ? extends ShortcutConfigurable> known, BiConsumer<String, String> mistake) {
        ShortcutConfigurable factory = known.get(used.name);
        String library = used.isFilter ? BuiltIns.LIBRARIES.get(used.name) : null;
        if (factory == null && library != null) {
            mistake.accept(
                    "the filter %s needs a library, which is not here".formatted(used.name),
                    "another filter, or %s on the class path: docs/routes.md says how".formatted(library));
        } else if (factory == null) {
            mistake.accept(
                    "unknown %s \"%s\"".formatted(used.isFilter ? "filter" : "predicate", used.name),
                    Suggestions.oneOf(used.name, known.keySet()));
        } else if (!used.isFilter && used.name.equals("Version") && versions.getIfAvailable() == null) {
            mistake.accept(
                    "Version without settings of API versions",
                    "process settings such as spring.webflux.apiversion.use.header=X-Version");
        } else if (!BuiltIns.of(used.isFilter).containsKey(used.name)) { // The reader of the file has checked those.
            RouteArguments.of(used.name, factory)
                    .check(used.args, (argument, found, expected) -> mistake.accept(found, expected));
        }
    }

    private static void throwIfAny(List<Mistake> mistakes) {
        if (!mistakes.isEmpty()) {
            throw new InvalidPolicyException(mistakes, PolicyFile.NOTHING);
        }
    }

    /** The place of a filter or a predicate in the file. */
    private record Place(String file, RouteDeclaration route, int line, String key) {

        static Place of(PolicyRoutes file, RouteDeclaration route, boolean isFilter, int index) {
            List<Integer> lines = isFilter ? route.filterLines() : route.predicateLines();
            String key = "routes[%d].%s[%d]".formatted(route.index(), isFilter ? "filters" : "predicates", index);
            return new Place(file.file(), route, lines.get(index), key);
        }
    }

    private record Used(Place place, boolean isFilter, String name, Map<String, String> args) {

        Mistake mistake(String found, String expected) {
            RouteDeclaration route = place.route;
            return new Mistake(
                    place.file, place.line, place.key, route.withoutSecrets(found), route.withoutSecrets(expected));
        }
    }

    private static List<Mistake> ofEach(PolicyRoutes file, BiConsumer<Used, List<Mistake>> check) {
        List<Mistake> mistakes = new ArrayList<>();
        for (PolicyRoute route : file.routes()) {
            int index = 0;
            for (FilterDefinition filter : route.definition().getFilters()) {
                Place place = Place.of(file, route.declaration(), true, index++);
                check.accept(new Used(place, true, String.valueOf(filter.getName()), filter.getArgs()), mistakes);
            }
            index = 0;
            for (PredicateDefinition predicate : route.definition().getPredicates()) {
                Place place = Place.of(file, route.declaration(), false, index++);
                check.accept(
                        new Used(place, false, String.valueOf(predicate.getName()), predicate.getArgs()), mistakes);
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
                                routes.current().file(), 1, "routes", rootMessage(e), LiveRoutes.BUILDABLE)));
        throwIfAny(mistakes);
    }

    /**
     * Builds a filter or predicate on its own, so that its mistake has a line, and the others are checked as well. Our own
     * factories say in the message what they expected; for others the message is all that is known.
     */
    private void build(Used component, List<Mistake> mistakes) {
        String name = component.name;
        try {
            if (component.isFilter) {
                buildFilter(Objects.requireNonNull(filters.get(name)), component);
            } else {
                buildPredicate(Objects.requireNonNull(predicates.get(name)), component);
            }
        } catch (RuntimeException e) {
            String message = rootMessage(e);
            String found = message.startsWith(name) ? message : name + ": " + message;
            int expected = found.indexOf(" (expected: ");
            mistakes.add(
                    expected < 0 || !found.endsWith(")")
                            ? component.mistake(readable(found), usage(component))
                            : component.mistake(
                                    found.substring(0, expected),
                                    found.substring(expected + " (expected: ".length(), found.length() - 1)));
        }
    }

    /** Of Spring's description of an argument that is missing or invalid, the name of the argument. */
    private static String readable(String found) {
        Matcher field = FIELD.matcher(found);
        return field.find()
                ? "%s: %s %s"
                        .formatted(
                                found.substring(0, found.indexOf(':')),
                                field.group(1),
                                field.group(2).equals("null") ? "is missing" : "cannot be " + field.group(2))
                : found;
    }

    private static String usage(Used component) {
        Component known = BuiltIns.of(component.isFilter).get(component.name);
        return known == null ? "arguments that %s takes".formatted(component.name) : known.usage();
    }

    private <C> void buildFilter(GatewayFilterFactory<C> factory, Used component) {
        factory.apply(bound(factory, component));
    }

    private <C> void buildPredicate(RoutePredicateFactory<C> factory, Used component) {
        factory.applyAsync(bound(factory, component));
    }

    private <C, F extends Configurable<C> & ShortcutConfigurable> C bound(F factory, Used component) {
        return arguments
                .with(factory)
                .name(component.name)
                .properties(component.args)
                .bind();
    }

    private static String rootMessage(Throwable e) {
        String message = NestedExceptionUtils.getMostSpecificCause(e).getMessage();
        return String.valueOf(message).lines().collect(Collectors.joining(" "));
    }
}

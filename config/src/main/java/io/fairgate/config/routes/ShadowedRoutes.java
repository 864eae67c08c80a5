package io.fairgate.config.routes;

import io.fairgate.config.yaml.Value;
import java.util.Comparator;
import java.util.List;

/** Warns of routes that no request reaches, because an earlier route takes all of their requests. */
public final class ShadowedRoutes {

    private ShadowedRoutes() {}

    /**
     * A route that is in use.
     *
     * @param order of routes with the same order, the first one in the file is tried first
     */
    public record Route(Value value, String id, int order, List<Written> predicates) {}

    private record Asking(Route route, List<Condition> conditions) {

        boolean takesAllOf(Asking other) {
            for (Condition own : conditions) {
                if (other.conditions.stream().noneMatch(own::includes)) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * Notes a warning for each route that no request reaches.
     *
     * @param routes in the order of the file, without those that are switched off
     */
    public static void warn(List<Route> routes) {
        List<Asking> inOrder = routes.stream()
                .sorted(Comparator.comparingInt(Route::order))
                .map(route -> new Asking(
                        route, route.predicates.stream().map(Condition::of).toList()))
                .toList();
        for (int i = 1; i < inOrder.size(); i++) {
            Asking later = inOrder.get(i);
            for (Asking earlier : inOrder.subList(0, i)) {
                if (earlier.takesAllOf(later)) {
                    later.route.value.warn(
                            "never used: the route %s at %s comes first, and takes all requests that this one asks for"
                                    .formatted(earlier.route.id, earlier.route.value.place()));
                    break;
                }
            }
        }
    }
}

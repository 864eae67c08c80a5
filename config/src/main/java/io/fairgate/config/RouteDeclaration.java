package io.fairgate.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One route as the file gives it: a route definition of Spring Cloud Gateway, which this module does not know and
 * leaves to be bound elsewhere. The lines are kept for whoever finds a mistake in it then.
 *
 * @param id unique among the routes of the file
 * @param index its place among the routes of the file, from 0
 * @param line where the route begins, from 1
 * @param definition the YAML below the route, the id included: maps, lists, strings, numbers and booleans, never null
 * @param predicateLines the line of each predicate, in order
 * @param filterLines the line of each filter, in order
 */
public record RouteDeclaration(
        String id,
        int index,
        int line,
        Map<String, Object> definition,
        List<Integer> predicateLines,
        List<Integer> filterLines) {
    public RouteDeclaration {
        // Not Map.copyOf: that forgets the order of the file.
        definition = Collections.unmodifiableMap(new LinkedHashMap<>(definition));
        predicateLines = List.copyOf(predicateLines);
        filterLines = List.copyOf(filterLines);
    }
}

package io.fairgate.config.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One route of the file: a route definition of Spring Cloud Gateway. This module does not depend on Spring Cloud
 * Gateway, so the definition is bound elsewhere. The lines are for mistakes that are found then.
 *
 * @param id unique among the routes of the file
 * @param index its position among the routes of the file, from 0
 * @param line the line where the route begins, from 1
 * @param definition the YAML below the route, the id included: maps, lists, strings, numbers and booleans, never null
 * @param predicateLines the line of each predicate, in order
 * @param filterLines the line of each filter, in order
 * @param filledIn maps each value that came from the environment or from another file, and may be secret, to its
 *     placeholder in the policy file; holds the values of other routes as well
 */
public record RouteDeclaration(
        String id,
        int index,
        int line,
        Map<String, Object> definition,
        List<Integer> predicateLines,
        List<Integer> filterLines,
        Map<String, String> filledIn) {
    /** Shorter values are not treated as secrets, because they would be found in every text. */
    private static final int SHORTEST_SECRET = 4;

    public RouteDeclaration {
        // Not Map.copyOf: that forgets the order of the file.
        definition = Collections.unmodifiableMap(new LinkedHashMap<>(definition));
        predicateLines = List.copyOf(predicateLines);
        filterLines = List.copyOf(filterLines);
        filledIn = Map.copyOf(filledIn);
    }

    /** The text with each filled-in value replaced by its placeholder, so that it can be shown. */
    public String withoutSecrets(String text) {
        String shown = text;
        for (Map.Entry<String, String> secret : filledIn.entrySet()) {
            shown = without(secret.getKey(), shown, secret.getValue());
            // Arguments are split at commas, so a part of the value may occur alone.
            for (String part : secret.getKey().split(",", -1)) {
                shown = without(part.strip(), shown, secret.getValue());
            }
        }
        return shown;
    }

    private static String without(String secret, String text, String placeholder) {
        return secret.length() < SHORTEST_SECRET ? text : text.replace(secret, placeholder);
    }

    /** Without the definition, which may hold secrets. */
    @Override
    public String toString() {
        return "route %s at line %d".formatted(id, line);
    }
}

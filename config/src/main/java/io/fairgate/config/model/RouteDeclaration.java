package io.fairgate.config.model;

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
 * @param filledIn what came from the environment or from other files and may be secret, by what stands for it in the
 *     policy file; more than this route has of it
 */
public record RouteDeclaration(
        String id,
        int index,
        int line,
        Map<String, Object> definition,
        List<Integer> predicateLines,
        List<Integer> filterLines,
        Map<String, String> filledIn) {
    /** What is shorter is no secret, and would be found in every text. */
    private static final int SHORTEST_SECRET = 4;

    public RouteDeclaration {
        // Not Map.copyOf: that forgets the order of the file.
        definition = Collections.unmodifiableMap(new LinkedHashMap<>(definition));
        predicateLines = List.copyOf(predicateLines);
        filterLines = List.copyOf(filterLines);
        filledIn = Map.copyOf(filledIn);
    }

    /** A text about this route that may be shown: what came from elsewhere is in it as the policy file writes it. */
    public String withoutSecrets(String text) {
        String shown = text;
        for (Map.Entry<String, String> secret : filledIn.entrySet()) {
            shown = without(secret.getKey(), shown, secret.getValue());
            // Arguments are split at commas, so that a part of it may stand alone.
            for (String part : secret.getKey().split(",", -1)) {
                shown = without(part.strip(), shown, secret.getValue());
            }
        }
        return shown;
    }

    private static String without(String secret, String text, String placeholder) {
        return secret.length() < SHORTEST_SECRET ? text : text.replace(secret, placeholder);
    }

    /** Without what came from elsewhere. */
    @Override
    public String toString() {
        return "route %s at line %d".formatted(id, line);
    }
}

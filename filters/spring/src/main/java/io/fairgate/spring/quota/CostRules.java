package io.fairgate.spring.quota;

import static io.fairgate.spring.quota.CostGatewayFilterFactory.mistake;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * What requests take by method and path: the units of the first rule that fits.
 *
 * <p>The client chooses the spelling of the path. It must not be able to spell an expensive path so that it looks cheap
 * here and is the same to the upstream. So of several {@linkplain PathReadings readings}, with letter case and without,
 * the most expensive one counts.
 */
final class CostRules {

    private static final Pattern RULE = Pattern.compile("([A-Z]+|\\*) +(/\\S*) *= *([0-9]{1,12})");
    private static final PathPatternParser EXACT = new PathPatternParser();
    private static final PathPatternParser ANY_CASE = new PathPatternParser();

    static {
        ANY_CASE.setCaseSensitive(false);
    }

    private record Rule(String method, PathPattern path, long units) {
        /** HEAD counts as GET, because it causes the same work. */
        boolean isFor(String asked) {
            return method.equals("*") || method.equals(asked) || (method.equals("GET") && asked.equals("HEAD"));
        }
    }

    private final List<Rule> exact;
    private final List<Rule> anyCase;
    private final long otherwise;

    /**
     * @param text such as {@code GET /reports/** = 10, * /search = 3}; null for no rules
     * @param otherwise the units of a request that no rule fits
     */
    CostRules(@Nullable String text, long otherwise) {
        exact = rules(text, EXACT);
        anyCase = rules(text, ANY_CASE);
        this.otherwise = otherwise;
    }

    private static List<Rule> rules(@Nullable String text, PathPatternParser parser) {
        List<Rule> rules = new ArrayList<>();
        for (String each : text == null ? new String[0] : text.split(",", -1)) {
            Matcher rule = RULE.matcher(each.strip());
            if (!rule.matches()) {
                throw mistake("rules", each.strip(), "such as GET /reports/** = 10, with * for any method");
            }
            rules.add(new Rule(rule.group(1), parser.parse(rule.group(2)), Long.parseLong(rule.group(3))));
        }
        return List.copyOf(rules);
    }

    long units(ServerHttpRequest request) {
        if (exact.isEmpty()) {
            return otherwise;
        }
        // Methods are case-sensitive (RFC 9110, 9.1), but some servers ignore case.
        String method = request.getMethod().name().toUpperCase(Locale.ROOT);
        String asked = request.getPath().pathWithinApplication().value();
        return PathReadings.of(asked).stream()
                .map(PathContainer::parsePath)
                .mapToLong(path -> Math.max(units(exact, method, path), units(anyCase, method, path)))
                .max()
                .orElseGet(() -> dearest(method));
    }

    private long dearest(String method) {
        return exact.stream()
                .filter(rule -> rule.isFor(method))
                .mapToLong(Rule::units)
                .reduce(otherwise, Math::max);
    }

    private long units(List<Rule> rules, String method, PathContainer path) {
        for (Rule rule : rules) {
            if (rule.isFor(method) && rule.path.matches(path)) {
                return rule.units;
            }
        }
        return otherwise;
    }
}

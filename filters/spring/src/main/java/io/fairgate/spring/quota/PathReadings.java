package io.fairgate.spring.quota;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * The ways in which upstreams may read a path. Four servers can read {@code /a/..%2Fb;c//d} in four ways. Spring Cloud
 * Gateway merges the slashes and forwards the rest unchanged, and the gateway does not know which server is behind. So
 * each transformation that servers apply to paths is applied, and also left out. A path pattern of Spring decodes a
 * reading and leaves out its parameters; nothing is decoded twice.
 */
final class PathReadings {

    private static final Pattern CODES = Pattern.compile("%(2[EFef]|3[Bb]|5[Cc])");
    private static final Pattern PARAMETERS = Pattern.compile(";[^/]*");
    private static final Pattern SLASHES = Pattern.compile("/{2,}");

    /** The transformations of servers, in their order. Some resolve dots before they merge slashes, others after. */
    private static final List<UnaryOperator<String>> STEPS = List.of(
            PathReadings::decoded,
            path -> path.replace(";", "%3B"),
            path -> PARAMETERS.matcher(path).replaceAll(""),
            PathReadings::merged,
            PathReadings::resolved,
            PathReadings::merged,
            PathReadings::closed);

    /** The most characters of all readings: twice a request line, so that one or two readings always fit. */
    private static final int MOST_CHARACTERS = 8192;

    private PathReadings() {}

    /**
     * The readings; the first is the path as received, and usually the only one. None for a path that was made to be
     * misread: a path of the maximum length can have dozens, and matching them all takes milliseconds.
     */
    static Set<String> of(String path) {
        Set<String> readings = new LinkedHashSet<>(List.of(path));
        if (isPlain(path)) {
            return readings;
        }
        int length = path.length();
        for (UnaryOperator<String> step : STEPS) {
            for (String reading : List.copyOf(readings)) {
                String other = step.apply(reading);
                length += readings.add(other) ? other.length() : 0;
            }
            if (length > MOST_CHARACTERS) {
                return Set.of();
            }
        }
        return readings;
    }

    /** Whether no step changes the path, which is true of nearly all paths. */
    private static boolean isPlain(String path) {
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            boolean isAfterSlash = i > 0 && path.charAt(i - 1) == '/';
            if (c == '%' || c == ';' || (isAfterSlash && (c == '/' || c == '.'))) {
                return false;
            }
        }
        return path.length() == 1 || !path.endsWith("/");
    }

    /** Decodes what has a meaning in a path; a backslash is a slash to some servers. The pattern decodes the rest. */
    private static String decoded(String path) {
        return CODES.matcher(path).replaceAll(code -> switch (code.group(1)) {
            case "2E", "2e" -> ".";
            case "3B", "3b" -> ";";
            default -> "/";
        });
    }

    private static String merged(String path) {
        return SLASHES.matcher(path).replaceAll("/");
    }

    /** Resolves {@code .} and {@code ..} (RFC 3986, 5.2.4); {@code ..} takes away an empty segment like any other. */
    private static String resolved(String path) {
        StringBuilder resolved = new StringBuilder(path.length());
        String[] segments = path.split("/", -1);
        for (int i = 1; i < segments.length; i++) {
            boolean isLast = i == segments.length - 1;
            if (segments[i].equals("..")) {
                resolved.setLength(Math.max(0, resolved.lastIndexOf("/")));
                resolved.append(isLast ? "/" : "");
            } else if (segments[i].equals(".")) {
                resolved.append(isLast ? "/" : "");
            } else {
                resolved.append('/').append(segments[i]);
            }
        }
        return resolved.isEmpty() ? "/" : resolved.toString();
    }

    /** Removes a slash at the end, which means nothing to many servers. */
    private static String closed(String path) {
        return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}

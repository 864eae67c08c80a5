package io.fairgate.spring.quota;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * What upstreams may take a path for. {@code /a/..%2Fb;c//d} is four things to four servers; Spring Cloud Gateway merges the
 * slashes, sends the rest on as it came, and nobody here knows which server is behind. So each thing that servers do to
 * paths is done, and also not done.
 *
 * <p>A reading is written so that a pattern of Spring's decodes it and leaves out its parameters. Nothing is decoded twice.
 */
final class PathReadings {

    private static final Pattern PARAMETERS = Pattern.compile(";[^/]*");
    private static final Pattern SLASHES = Pattern.compile("/{2,}");

    /** What servers do, in the order in which they do it; some resolve dots before they merge slashes, others after. */
    private static final List<UnaryOperator<String>> STEPS = List.of(
            PathReadings::decoded,
            path -> path.replace(";", "%3B"),
            path -> PARAMETERS.matcher(path).replaceAll(""),
            PathReadings::merged,
            PathReadings::resolved,
            PathReadings::merged,
            PathReadings::closed);

    /** In all readings together: twice what a request line holds, so no path is too long that has one or two. */
    private static final int MOST_CHARACTERS = 8192;

    private PathReadings() {}

    /**
     * One for a path that all read alike, and the first is as it came. None at all for a path that was made to be misread:
     * one of the length that a request may have can have dozens, and matching them all takes milliseconds.
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

    /** For nearly all: nothing to do for any step. */
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

    /** What has a meaning in a path; a backslash is a slash to some. Everything else is decoded by the pattern. */
    private static String decoded(String path) {
        StringBuilder decoded = new StringBuilder(path.length());
        for (int i = 0; i < path.length(); i++) {
            String code = path.charAt(i) == '%' && i + 2 < path.length() ? path.substring(i + 1, i + 3) : "";
            String meant = switch (code) {
                case "2F", "2f", "5C", "5c" -> "/";
                case "2E", "2e" -> ".";
                case "3B", "3b" -> ";";
                default -> "";
            };
            decoded.append(meant.isEmpty() ? path.substring(i, i + 1) : meant);
            i += meant.isEmpty() ? 0 : code.length();
        }
        return decoded.toString();
    }

    private static String merged(String path) {
        return SLASHES.matcher(path).replaceAll("/");
    }

    /** Without {@code .} and {@code ..}, by RFC 3986, section 5.2.4: an empty segment is one that {@code ..} takes away. */
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

    /** To many servers a slash at the end means nothing. */
    private static String closed(String path) {
        return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }
}

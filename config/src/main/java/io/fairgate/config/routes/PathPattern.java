package io.fairgate.config.routes;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A pattern of paths, as Spring's {@code PathPattern} reads it, for comparisons with others. */
record PathPattern(String text, List<Segment> segments) {

    private static final Pattern VARIABLE = Pattern.compile("\\{[A-Za-z0-9_-]+}");
    private static final Pattern REST = Pattern.compile("\\*\\*|\\{\\*[A-Za-z0-9_-]+}");
    private static final Pattern LITERAL = Pattern.compile("[^*?{}\\\\]*");

    private enum Kind {
        LITERAL,
        /** {@code *}, which an empty segment matches at the end of a path. */
        ANY,
        /** A variable without a regular expression, which no empty segment matches. */
        VARIABLE,
        REST,
        OTHER
    }

    private record Segment(String text, Kind kind) {

        static Segment of(String text) {
            if (LITERAL.matcher(text).matches()) {
                return new Segment(text, Kind.LITERAL);
            } else if (text.equals("*")) {
                return new Segment(text, Kind.ANY);
            } else if (VARIABLE.matcher(text).matches()) {
                return new Segment(text, Kind.VARIABLE);
            }
            return new Segment(text, REST.matcher(text).matches() ? Kind.REST : Kind.OTHER);
        }

        boolean includes(Segment other) {
            return switch (kind) {
                case LITERAL -> text.equals(other.text);
                case ANY -> !other.text.isEmpty();
                case VARIABLE -> !other.text.isEmpty() && other.kind != Kind.ANY;
                case REST, OTHER -> false;
            };
        }
    }

    static PathPattern of(String text) {
        return new PathPattern(
                text, Stream.of(text.split("/", -1)).map(Segment::of).toList());
    }

    /** Whether each path that matches the other pattern is known to match this one. */
    boolean includes(PathPattern other) {
        if (text.equals(other.text)) {
            return true;
        }
        int last = segments.size() - 1;
        for (int i = 0; i <= last; i++) {
            Segment own = segments.get(i);
            if (i == last && own.kind == Kind.REST) {
                return true;
            } else if (i >= other.segments.size()
                    || other.segments.get(i).kind == Kind.REST
                    || !own.includes(other.segments.get(i))) {
                return false;
            }
        }
        return segments.size() == other.segments.size();
    }
}

package io.fairgate.spring;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;

/** How a response tells what its request took. */
sealed interface ResponseCost {

    /** The most units that a request takes, whatever it is told to. */
    long max();

    /**
     * By the bytes of its body.
     *
     * @param perUnit bytes; a part of a unit counts as one
     */
    record Bytes(long perUnit, long max) implements ResponseCost {
        long units(long bytes) {
            return Math.min(max, bytes / perUnit + (bytes % perUnit == 0 ? 0 : 1));
        }
    }

    /** By a number in one of its fields. */
    record Field(String name, long max) implements ResponseCost {
        /** Null when the response does not tell, or tells something else. */
        @Nullable
        Long units(HttpHeaders headers) {
            Long told = number(headers.getOrDefault(name, List.of()));
            return told == null ? null : (Long) Math.min(max, told);
        }
    }

    /** The one number that a field holds; null when it holds none, or several values. */
    static @Nullable Long number(List<String> values) {
        return values.size() == 1
                        && Digits.NUMBER.matcher(values.get(0).strip()).matches()
                ? Long.valueOf(values.get(0).strip())
                : null;
    }
}

/** Holds the pattern, which an interface could only make public. */
final class Digits {
    static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private Digits() {}
}

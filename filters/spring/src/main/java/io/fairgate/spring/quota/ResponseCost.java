package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.WholeNumber;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a response tells what its request took. */
sealed interface ResponseCost {

    /** The most units that a request takes, whatever it is told to. */
    long max();

    /**
     * By the bytes of its body. No request is free for having no body in its response: HEAD, 204 and 304 are work as well.
     *
     * @param perUnit bytes; a part of a unit counts as one
     */
    record Bytes(long perUnit, long max) implements ResponseCost {
        long units(long bytes) {
            long begun = bytes / perUnit + (bytes % perUnit == 0 ? 0 : 1);
            return Math.max(1, Math.min(max, begun));
        }
    }

    /** By a number in one of its fields. */
    record Field(String name, long max) implements ResponseCost {
        /** Null when the response does not tell, or tells something else. */
        @Nullable
        Long units(List<String> lines) {
            Long told = WholeNumber.largest(lines);
            return told == null ? null : (Long) Math.min(max, told);
        }
    }
}

package io.fairgate.spring.quota;

import io.fairgate.spring.exchange.WholeNumber;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a response gives the cost of its request. */
sealed interface ResponseCost {

    /**
     * By the bytes of its body, at least one unit: HEAD, 204 and 304 have no body and are work as well.
     *
     * @param perUnit bytes; a part of a unit counts as one
     * @param max the most units, whatever the response says
     */
    record Bytes(long perUnit, long max) implements ResponseCost {
        long units(long bytes) {
            long begun = bytes / perUnit + (bytes % perUnit == 0 ? 0 : 1);
            return Math.max(1, Math.min(max, begun));
        }
    }

    /** By a number in one of its header fields. */
    record Field(String name, long max) implements ResponseCost {
        /** Null when the field is missing or holds no number. */
        @Nullable
        Long units(List<String> lines) {
            Long number = WholeNumber.largest(lines);
            return number == null ? null : (Long) Math.min(max, number);
        }
    }
}

package io.fairgate.load.kit;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The results of one tenant, or of all of them.
 *
 * @param statuses how many requests ended with each status; {@code none} without an answer
 * @param sentPerSecond requests that began
 * @param perSecond answers that came in this time: the rest of those of an overloaded gateway comes later
 * @param share the percentage of all answers that came in this time
 * @param permitShare the percentage of all permit-time; null if it is not known
 */
record Figures(
        long answered,
        long refused,
        long failed,
        Map<String, Long> statuses,
        double sentPerSecond,
        double perSecond,
        double share,
        @Nullable Double permitShare,
        Millis millis) {

    /** How long answers took, in milliseconds; null without answers. */
    record Millis(
            @Nullable Integer p50,
            @Nullable Integer p95,
            @Nullable Integer p99,
            @Nullable Integer max) {

        @Nullable
        Integer of(int percent) {
            return switch (percent) {
                case 50 -> p50;
                case 95 -> p95;
                case 99 -> p99;
                default -> max;
            };
        }
    }

    long sent() {
        return answered + refused + failed;
    }

    double refusedPercent() {
        return sent() == 0 ? 0 : 100.0 * refused / sent();
    }

    double failedPercent() {
        return sent() == 0 ? 0 : 100.0 * failed / sent();
    }
}

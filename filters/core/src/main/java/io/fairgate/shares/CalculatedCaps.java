package io.fairgate.shares;

import org.jspecify.annotations.Nullable;

/** The results of a {@link ShareCalculator}, computed in advance: no user code runs while permits are granted. */
public final class CalculatedCaps {

    private static final CalculatedCaps NONE = new CalculatedCaps(new int[] {ShareSettings.UNBOUNDED});

    private final int[] caps;

    private CalculatedCaps(int[] caps) {
        this.caps = caps;
    }

    /** @throws IllegalArgumentException when the calculator returns less than 1 */
    public static CalculatedCaps of(@Nullable ShareCalculator calculator, int permits) {
        if (calculator == null) {
            return NONE;
        }
        int[] caps = new int[Math.min(permits, ShareCalculator.MOST_TENANTS)];
        for (int i = 0; i < caps.length; i++) {
            caps[i] = calculator.maxInFlight(permits, i + 1);
            if (caps[i] < 1) {
                throw new IllegalArgumentException(
                        "calculator: %d for %d permits and %d active tenants (expected: >= 1)"
                                .formatted(caps[i], permits, i + 1));
            }
        }
        return new CalculatedCaps(caps);
    }

    public int of(int activeTenants) {
        return caps[Math.min(Math.max(activeTenants, 1), caps.length) - 1];
    }
}

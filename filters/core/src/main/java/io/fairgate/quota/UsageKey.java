package io.fairgate.quota;

import java.util.Locale;

/**
 * What a balance is kept under. Another window is another balance: the change back and forth of a policy must not refill
 * either.
 *
 * @param window the kind of the quota and the length of its window, in words
 */
record UsageKey(String name, String window) {

    static UsageKey of(Quota quota) {
        String window;
        if (quota instanceof Quota.Rate rate) {
            window = "rate-" + rate.per();
        } else if (quota instanceof Quota.Sliding sliding) {
            window = "sliding-" + sliding.within();
        } else if (quota instanceof Quota.Calendar calendar) {
            window = calendar.per().name().toLowerCase(Locale.ROOT);
        } else {
            window = "total";
        }
        // The same few for all tenants, of which each would otherwise keep its own.
        return new UsageKey(quota.name(), window.intern());
    }
}

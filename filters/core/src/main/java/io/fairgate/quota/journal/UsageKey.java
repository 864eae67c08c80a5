package io.fairgate.quota.journal;

import io.fairgate.quota.Quota;

import java.util.Locale;

/**
 * The key of a balance. Another window has another balance, so that changing a policy back and forth refills neither.
 *
 * @param window the kind of the quota and the length of its window, in words
 */
public record UsageKey(String name, String window) {

    public static UsageKey of(Quota quota) {
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
        // Interned, because all tenants use the same few texts.
        return new UsageKey(quota.name(), window.intern());
    }
}

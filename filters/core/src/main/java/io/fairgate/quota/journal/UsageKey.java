package io.fairgate.quota.journal;

import io.fairgate.quota.Quota;
import io.fairgate.quota.QuotaOwner;
import java.util.Locale;

/**
 * The key of a usage. Another window has another usage, so that changing a policy back and forth refills neither.
 *
 * @param name the name of the quota
 * @param window the kind of the quota and the length of its window, in words
 */
public record UsageKey(QuotaOwner owner, String name, String window) {

    public static UsageKey of(QuotaOwner owner, Quota quota) {
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
        return new UsageKey(owner, quota.name(), window.intern());
    }
}

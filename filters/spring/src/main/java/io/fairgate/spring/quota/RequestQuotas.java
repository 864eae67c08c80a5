package io.fairgate.spring.quota;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaSet;
import org.jspecify.annotations.Nullable;

/**
 * The quotas of one request and its cost, which are the same for its check and its charge.
 *
 * @param units charged when the request is forwarded; 0 for nothing
 * @param response how the response gives the cost; null when the cost is known before
 */
public record RequestQuotas(
        TenantPolicy tenant,
        QuotaSet quotas,
        long units,
        @Nullable ResponseCost response) {

    /** Whether there is nothing to decide. */
    boolean areUnlimited() {
        return quotas.isEmpty() || units == 0;
    }
}

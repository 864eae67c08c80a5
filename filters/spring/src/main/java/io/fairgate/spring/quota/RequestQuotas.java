package io.fairgate.spring.quota;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;
import org.jspecify.annotations.Nullable;

/** The quotas of one request and its cost, which are the same for its check and its charge. */
public final class RequestQuotas {

    private final TenantPolicy tenant;
    private final QuotaSet quotas;
    private final long units;
    private final @Nullable ResponseCost response;
    private boolean isDryRunNoted;

    /**
     * @param units charged when the request is forwarded; 0 for nothing
     * @param response how the response gives the cost; null when the cost is known before
     */
    RequestQuotas(TenantPolicy tenant, QuotaSet quotas, long units, @Nullable ResponseCost response) {
        this.tenant = tenant;
        this.quotas = quotas;
        this.units = units;
        this.response = response;
    }

    TenantPolicy tenant() {
        return tenant;
    }

    QuotaSet quotas() {
        return quotas;
    }

    long units() {
        return units;
    }

    @Nullable
    ResponseCost response() {
        return response;
    }

    /** Whether there is nothing to decide. */
    boolean areUnlimited() {
        return quotas.isEmpty() || units == 0;
    }

    /**
     * Whether a quota that is not enforced refuses the request for the first time. Later refusals are not noted: a
     * request that is refused at the check would never have been charged.
     */
    boolean isDryRunToBeNoted(QuotaDecision decision) {
        if (isDryRunNoted || decision.wouldRefuse().isEmpty()) {
            return false;
        }
        isDryRunNoted = true;
        return true;
    }
}

package io.fairgate.spring.quota;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;

/** The quotas of one request and its cost, which are the same for its check and its charge. */
public final class RequestQuotas {

    private final TenantPolicy tenant;
    private final QuotaSet quotas;
    private final RequestCost cost;
    private boolean isDryRunNoted;

    RequestQuotas(TenantPolicy tenant, QuotaSet quotas, RequestCost cost) {
        this.tenant = tenant;
        this.quotas = quotas;
        this.cost = cost;
    }

    TenantPolicy tenant() {
        return tenant;
    }

    QuotaSet quotas() {
        return quotas;
    }

    RequestCost cost() {
        return cost;
    }

    /** Whether there is nothing to decide. */
    boolean areUnlimited() {
        return quotas.isEmpty() || cost.units() == 0;
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

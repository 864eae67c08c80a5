package io.fairgate.spring;

import io.fairgate.quota.QuotaDecision;
import io.fairgate.quota.QuotaSet;

/**
 * The quotas of one request and what it takes of them: decided when it is checked, and the same when it is charged,
 * whatever policy is in force by then.
 */
final class RequestQuotas {

    /** Of a request that is nobody's. */
    static final RequestQuotas NONE = new RequestQuotas(QuotaSet.NONE, RequestCost.ONE);

    private final QuotaSet quotas;
    private final RequestCost cost;
    private boolean isTrialCounted;

    RequestQuotas(QuotaSet quotas, RequestCost cost) {
        this.quotas = quotas;
        this.cost = cost;
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
     * Whether a quota that is on trial would have refused, and this is the first time for the request: one that it would have
     * refused at the check would not have come to the charge.
     */
    boolean isToBeCounted(QuotaDecision decision) {
        if (isTrialCounted || decision.wouldRefuse().isEmpty()) {
            return false;
        }
        isTrialCounted = true;
        return true;
    }
}

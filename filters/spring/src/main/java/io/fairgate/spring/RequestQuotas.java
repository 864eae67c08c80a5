package io.fairgate.spring;

import io.fairgate.quota.QuotaSet;
import java.util.List;

/**
 * The quotas of one request and what it takes of them: decided when it is checked, and the same when it is charged,
 * whatever policy is in force by then.
 */
final class RequestQuotas {

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
     * What is to be counted of the quotas that are not enforced: what they would refuse, once for a request. One that they
     * would have refused at the check would not have come to the charge.
     */
    List<String> toCount(List<String> wouldRefuse) {
        if (isTrialCounted) {
            return List.of();
        }
        isTrialCounted = !wouldRefuse.isEmpty();
        return wouldRefuse;
    }
}

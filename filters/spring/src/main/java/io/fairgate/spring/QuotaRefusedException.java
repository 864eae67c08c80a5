package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.quota.QuotaDecision;

/** The tenant has used up a quota. Carries no stack trace. */
final class QuotaRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient TenantPolicy tenant;
    private final transient QuotaDecision decision;

    QuotaRefusedException(TenantPolicy tenant, QuotaDecision decision) {
        super("quota", null, false, false);
        this.tenant = tenant;
        this.decision = decision;
    }

    TenantPolicy tenant() {
        return tenant;
    }

    QuotaDecision decision() {
        return decision;
    }
}

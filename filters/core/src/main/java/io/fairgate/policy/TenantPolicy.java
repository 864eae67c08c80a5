package io.fairgate.policy;

import io.fairgate.fairness.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one tenant may claim and use, with the overrides of the member applied to its plan.
 *
 * @param plan the name of the plan, for people
 * @param parent the group that it is in, or null
 * @param share its claim on every pool
 * @param quotas its own, in the order of the policy; their names are unique
 */
public record TenantPolicy(
        TenantId id, String plan, @Nullable String parent, ShareSettings share, List<QuotaRule> quotas) {

    /** A tenant that is in no group. */
    public TenantPolicy(TenantId id, String plan, ShareSettings share, List<QuotaRule> quotas) {
        this(id, plan, null, share, quotas);
    }

    public TenantPolicy {
        quotas = QuotaTerms.distinct(quotas);
    }
}

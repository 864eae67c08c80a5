package io.fairgate.policy;

import io.fairgate.shares.ShareSettings;
import io.fairgate.tenant.TenantId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The policy of one tenant: its plan, with the overrides of the member applied.
 *
 * @param plan the name of the plan, for people to read
 * @param parent the group of the tenant, or null
 * @param share the tenant's settings in every pool
 * @param quotas the tenant's own quotas, in the order of the policy; their names are unique
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

package io.fairgate.spring.quota;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.QuotaSet;
import io.fairgate.spring.policy.LivePolicy;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/**
 * The quotas that apply to a request under the policy in force. Computed once for each policy, before it is in force.
 */
final class RouteQuotas implements LivePolicy.Follower {

    private volatile QuotaSets sets;
    /** For the policy that is being prepared. Used only by changes of the policy, which run one at a time. */
    private QuotaSets next;

    RouteQuotas(Policy policy) {
        sets = new QuotaSets(policy);
        next = sets;
    }

    @Override
    public void prepare(Policy policy) {
        next = new QuotaSets(policy);
    }

    @Override
    public void follow(Policy policy) {
        sets = next;
    }

    /**
     * The quotas of the tenant on the route.
     *
     * @param route the id of the route; null for a call that takes no route
     * @return null when the policy does not know the tenant any more
     */
    @Nullable
    QuotaSet of(TenantId tenant, @Nullable String route) {
        QuotaSets now = sets;
        return now.know(tenant) ? now.of(tenant, route) : null;
    }
}

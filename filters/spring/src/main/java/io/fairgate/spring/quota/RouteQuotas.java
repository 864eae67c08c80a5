package io.fairgate.spring.quota;

import io.fairgate.spring.policy.LivePolicy;

import io.fairgate.policy.Policy;
import io.fairgate.policy.QuotaSets;
import io.fairgate.quota.QuotaSet;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/** Which quotas apply to a request under the policy that is in force; worked out once for each policy, before it is. */
final class RouteQuotas implements LivePolicy.Follower {

    private volatile QuotaSets sets;
    /** Of the policy that is being prepared; only changes of the policy use it, one after another. */
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
     * @param route its id; null for what is not a request of a route
     * @return null when the policy does not know the tenant any more
     */
    @Nullable
    QuotaSet of(TenantId tenant, @Nullable String route) {
        QuotaSets now = sets;
        return now.know(tenant) ? now.of(tenant, route) : null;
    }
}

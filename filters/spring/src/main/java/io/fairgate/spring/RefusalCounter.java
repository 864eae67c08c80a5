package io.fairgate.spring;

import io.fairgate.policy.TenantPolicy;
import io.fairgate.tenant.TenantId;
import org.jspecify.annotations.Nullable;

/** Counts requests that were refused before a pool was asked, and requests that failed at the upstream. */
public interface RefusalCounter {

    /**
     * A request was refused.
     *
     * @param tenant null when it is not known
     * @param reason one of a few words
     * @param enforced false in a dry run, where the request goes on
     */
    void refused(@Nullable TenantId tenant, String reason, boolean enforced);

    /**
     * A request failed after it was admitted.
     *
     * @param pool null when its route has none
     * @param tenant null when it is not known
     * @param reason one of a few words
     */
    void failed(@Nullable String pool, @Nullable TenantPolicy tenant, String reason);
}

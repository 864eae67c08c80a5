/**
 * What tenants, groups and classes of requests may claim of a pool. Start at {@link io.fairgate.shares.TenantShares};
 * {@code io.fairgate.fairness} decides by it which request gets the next permit.
 */
@NullMarked
package io.fairgate.shares;

import org.jspecify.annotations.NullMarked;

/**
 * Fairgate inside Spring Cloud Gateway. One request meets, in this order:
 * the drain, the tenant, the check of quotas, the permit, the charge of quotas, and then the gateway's own filters.
 * {@link io.fairgate.spring.RefusalHandler} turns whatever they refuse into HTTP.
 */
@NullMarked
package io.fairgate.spring;

import org.jspecify.annotations.NullMarked;

/**
 * Fairgate inside Spring Cloud Gateway. {@link io.fairgate.spring.admission.Admission} takes one request through these
 * steps: shutdown, path, tenant, check of quotas, permit, charge of quotas, and then the gateway's own filters.
 * {@link io.fairgate.spring.refusal.RefusalHandler} turns their refusals into HTTP.
 */
@NullMarked
package io.fairgate.spring;

import org.jspecify.annotations.NullMarked;

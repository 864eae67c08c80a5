/** The policy of an operator: tenants and their identification, shares and quotas, and pools. Plain values. */
@NullMarked
package io.fairgate.policy;

import org.jspecify.annotations.NullMarked;

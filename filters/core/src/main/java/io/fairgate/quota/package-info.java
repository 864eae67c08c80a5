/**
 * Quotas: the units that a tenant may use per window. They are checked before a request waits, charged when it is forwarded,
 * and settled when its actual cost is known. {@link io.fairgate.quota.Quotas} is the port; {@code io.fairgate.quota.embedded}
 * keeps the balances in the memory of one process, and explains how each kind of quota counts.
 */
@NullMarked
package io.fairgate.quota;

import org.jspecify.annotations.NullMarked;

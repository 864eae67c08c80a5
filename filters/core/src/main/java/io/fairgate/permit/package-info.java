/**
 * Pools of permits: a request waits for its permits without blocking a thread, runs, and gives them back. Start at
 * {@link io.fairgate.permit.PermitPool}; the pool of one process is
 * {@link io.fairgate.permit.embedded.EmbeddedPermitPool}.
 */
@NullMarked
package io.fairgate.permit;

import org.jspecify.annotations.NullMarked;

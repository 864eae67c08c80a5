/** Leases in the memory of one process: {@link io.fairgate.lease.embedded.EmbeddedLeases} and its parts. */
@NullMarked
package io.fairgate.lease.embedded;

import org.jspecify.annotations.NullMarked;

/** Leases: permits under an id and an expiry, for holders that are not HTTP requests. */
@NullMarked
package io.fairgate.lease;

import org.jspecify.annotations.NullMarked;

/** The contract of leases, for every backend: {@link io.fairgate.testkit.lease.LeasesContract}. */
@NullMarked
package io.fairgate.testkit.lease;

import org.jspecify.annotations.NullMarked;

/** Receipts prove after a restart what a lease held. They are signed with keys of the operator. */
@NullMarked
package io.fairgate.gateway.lease.receipt;

import org.jspecify.annotations.NullMarked;

/** The lease API: permits of the same pools for work that is no request of the gateway, over HTTP on a port of its own. */
@NullMarked
package io.fairgate.gateway.lease;

import org.jspecify.annotations.NullMarked;

/**
 * The wire protocol of pacman82/throttle 0.5, for its existing clients: {@link
 * io.fairgate.gateway.throttle.ThrottleProtocol} is the routes, {@link io.fairgate.gateway.throttle.Peers} what they do.
 *
 * <p>Words of that protocol that are used here and nowhere else: a <b>semaphore</b> is a pool, seen from outside; a
 * <b>peer</b> is a holder, and is a lease; a <b>lock</b> is a count of permits of one semaphore that a peer holds, or waits
 * for (<b>pending</b>); the <b>level</b> of a semaphore says in which order its locks may be taken.
 */
@NullMarked
package io.fairgate.gateway.throttle;

import org.jspecify.annotations.NullMarked;

/**
 * What the gateway does while its event loops have more to do than they can.
 *
 * <p><b>The signal.</b> An event loop works on all that is ready, one after the other, so how late it runs a timer is how
 * long a request waits before the gateway sees it. {@link io.fairgate.spring.overload.EventLoops} measures it on each loop
 * that serves clients. A loop that is late for a moment, for a pause of the garbage collector, is not overloaded; one
 * that is late at each measurement for a tenth of a second is.
 *
 * <p><b>Requests.</b> Each loop decides for itself ({@link io.fairgate.spring.overload.LoopLoad}), so that no state is
 * shared, and a loop that hangs refuses nothing on the others. The rule is a rate of requests per weight, the same for all
 * tenants: a tenant that sends less than its weight times the rate loses nothing, and one that sends more is cut to that.
 * So the rate is the water level of a max-min fair division, and finding it needs no list of tenants: while the loop is
 * late, the rate falls; while it is not, the rate rises, and fast while the loop is late by less than
 * half of the bound. It begins at what the heaviest tenant sends. It does not fall any
 * more when the loop carries less than half of what it carried at its best, because then something else than the load makes
 * the loop late. A virtual clock advances by the rate; a tenant's own clock advances by 1/weight for each of its requests,
 * and must not be ahead of it. The clocks of tenants are in a table of fixed size, found by a hash, so tenants may share
 * one; the hash changes every few seconds, so that none shares it with a heavy tenant for long.
 *
 * <p><b>Connections.</b> A refusal is cheap but not free. At ten times the load, refusals alone would use up the loop, as
 * clients send the next request on the connection at once. So a refused request is the last one of its
 * connection (HTTP/1.1), and new connections are reset when they are accepted
 * ({@link io.fairgate.spring.overload.ConnectionGate}), but for a few. What remains is as many connections as the loop can
 * serve in time. A reset takes a fraction of what a connection takes, works for TLS and HTTP/2 as well, and tells a proxy
 * that nothing was processed.
 */
@NullMarked
package io.fairgate.spring.overload;

import org.jspecify.annotations.NullMarked;

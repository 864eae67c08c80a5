/**
 * A client of the lease API: permits of a gateway's pools for programs whose work is not a request that the gateway
 * forwards. Start at {@link io.fairgate.client.LeaseClient}.
 *
 * <p><b>Acquiring.</b> A {@code KeyedAcquisition} is made before anything is sent. It has an idempotency key, and the server treats
 * all calls with this key as one. So everything that was begun can always be released, whatever is known of its calls. A lease
 * that is passed on between operators could be lost on the way; an acquisition cannot, because it is made while nothing is
 * held.
 *
 * <p><b>Holding.</b> The server counts a lease's time from the moment when it reads a call, which is never before the call was
 * sent. {@code HeldLease} counts from the sending, on a clock that cannot be set, and subtracts a margin. So it knows without
 * any answer until when no other holder can have the permits. Each answered extension moves that moment; when it comes, the
 * lease is lost.
 *
 * <p><b>After a restart</b> the server knows no lease. A client whose lease must still be running sends the server what it
 * holds, and goes on with a larger fencing token.
 */
@NullMarked
package io.fairgate.client;

import org.jspecify.annotations.NullMarked;

/**
 * A client of the lease API: permits of a gateway's pools for programs whose work is not a request that the gateway
 * forwards. Start at {@link io.fairgate.client.LeaseClient}.
 *
 * <p><b>Asking.</b> A {@code Claim} is made before anything is sent. It is a name, the key under which all its calls are
 * one to the server, and so it is what is given back, whatever is known by then of how the calls went. It cannot be lost
 * on the way between operators as a permit could, because at the time when it travels nothing is held.
 *
 * <p><b>Holding.</b> The server counts a lease's time from when it reads a call, which is never before the call was sent.
 * {@code Hold} counts from the sending, on a clock that cannot be set, takes a {@code margin} off, and knows without any
 * answer until when nobody else can have been granted the permits. Each answered extension moves that moment; when it comes
 * the lease is lost.
 *
 * <p><b>After a restart</b> the server knows no lease. Who is told so while its lease must still be running tells the server
 * what it holds, and goes on with a larger fencing token.
 */
@NullMarked
package io.fairgate.client;

import org.jspecify.annotations.NullMarked;

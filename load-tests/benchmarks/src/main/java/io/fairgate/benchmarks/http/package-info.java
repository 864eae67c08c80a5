/**
 * The processor time that leases and configured members cost a gateway. The gateway, the upstream and the load are three
 * processes, so that the time of the gateway can be measured alone. The load uses plain sockets, to leave the processors to the
 * gateway.
 */
@NullMarked
package io.fairgate.benchmarks.http;

import org.jspecify.annotations.NullMarked;

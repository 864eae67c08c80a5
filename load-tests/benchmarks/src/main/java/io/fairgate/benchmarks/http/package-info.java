/**
 * What leases and configured members cost the process of a gateway: the jar in a process of its own, an upstream in another
 * one, and the load in this one, so that the processor time of the first is its own. Plain sockets on both sides: what they
 * cost is not measured, but they have to leave the processors to the gateway.
 */
@NullMarked
package io.fairgate.benchmarks.http;

import org.jspecify.annotations.NullMarked;

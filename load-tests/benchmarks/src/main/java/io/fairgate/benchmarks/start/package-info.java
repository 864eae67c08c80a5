/** Measures the time from the start of a process to its first response, for gateways and for throttle. */
@NullMarked
package io.fairgate.benchmarks.start;

import org.jspecify.annotations.NullMarked;

/** Traces: a span of each request, with its wait and its upstream as children, for a collector that speaks OTLP. */
@NullMarked
package io.fairgate.gateway.trace;

import org.jspecify.annotations.NullMarked;

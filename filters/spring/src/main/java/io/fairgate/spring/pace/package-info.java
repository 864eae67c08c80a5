/**
 * Clients that are too slow. {@link io.fairgate.spring.pace.PacedBody} ends a request whose body comes too slowly, and
 * {@link io.fairgate.spring.pace.PacedResponse} one that holds permits and whose response is read too slowly. Such requests would keep
 * permits, or connections to upstreams.
 */
@NullMarked
package io.fairgate.spring.pace;

import org.jspecify.annotations.NullMarked;

/**
 * Clients that are too slow. {@link io.fairgate.spring.pace.PacedBody} ends a request whose body comes too slowly, and
 * {@link io.fairgate.spring.pace.PacedResponse} one whose response is read too slowly, because such requests keep their permits.
 */
@NullMarked
package io.fairgate.spring.pace;

import org.jspecify.annotations.NullMarked;

/** The start of a gateway, and what it reports when it cannot start. */
@NullMarked
package io.fairgate.gateway.start;

import org.jspecify.annotations.NullMarked;

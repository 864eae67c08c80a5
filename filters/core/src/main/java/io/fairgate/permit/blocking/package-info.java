/** Pools for code that blocks, on virtual threads or on threads of its own. */
@NullMarked
package io.fairgate.permit.blocking;

import org.jspecify.annotations.NullMarked;

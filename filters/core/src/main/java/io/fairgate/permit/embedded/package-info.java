/** Pools in the memory of one process: {@link io.fairgate.permit.embedded.EmbeddedPermitPool} and its parts. */
@NullMarked
package io.fairgate.permit.embedded;

import org.jspecify.annotations.NullMarked;

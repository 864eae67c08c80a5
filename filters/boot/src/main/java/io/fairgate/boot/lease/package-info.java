/** The client of the lease API as a bean. */
@NullMarked
package io.fairgate.boot.lease;

import org.jspecify.annotations.NullMarked;

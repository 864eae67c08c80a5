/** Tenants: the customers, teams or programs that are charged for requests. */
@NullMarked
package io.fairgate.tenant;

import org.jspecify.annotations.NullMarked;

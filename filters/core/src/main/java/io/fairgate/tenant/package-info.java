/** Who is charged for a request. */
@NullMarked
package io.fairgate.tenant;

import org.jspecify.annotations.NullMarked;

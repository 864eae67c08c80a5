/** The state of a pool at one moment, as operators and programs see it. */
@NullMarked
package io.fairgate.status;

import org.jspecify.annotations.NullMarked;

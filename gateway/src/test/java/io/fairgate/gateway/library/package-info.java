/** A library with a filter, which {@code LibraryIT} puts on the class path of the program. */
@NullMarked
package io.fairgate.gateway.library;

import org.jspecify.annotations.NullMarked;

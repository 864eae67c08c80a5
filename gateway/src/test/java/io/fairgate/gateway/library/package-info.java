/** A library with a filter and a way to identify tenants, which {@code LibraryIT} puts on the class path of the program. */
@NullMarked
package io.fairgate.gateway.library;

import org.jspecify.annotations.NullMarked;

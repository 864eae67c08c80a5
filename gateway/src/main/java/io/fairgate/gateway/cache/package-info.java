/** A file with which the JVM starts the program faster: it is recorded in a run of the program, and holds its classes. */
@NullMarked
package io.fairgate.gateway.cache;

import org.jspecify.annotations.NullMarked;

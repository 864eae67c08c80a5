/** The program as its users see it: over HTTP, from outside. */
@NullMarked
package io.fairgate.gateway;

import org.jspecify.annotations.NullMarked;

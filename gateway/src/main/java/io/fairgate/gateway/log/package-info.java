/** Where logs go. */
@NullMarked
package io.fairgate.gateway.log;

import org.jspecify.annotations.NullMarked;

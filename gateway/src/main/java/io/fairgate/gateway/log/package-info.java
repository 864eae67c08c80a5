/** The outputs of the logs. */
@NullMarked
package io.fairgate.gateway.log;

import org.jspecify.annotations.NullMarked;

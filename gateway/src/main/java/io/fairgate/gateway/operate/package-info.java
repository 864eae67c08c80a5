/** The commands that talk to a running gateway: to its management port, and {@code lease} to its lease port. */
@NullMarked
package io.fairgate.gateway.operate;

import org.jspecify.annotations.NullMarked;

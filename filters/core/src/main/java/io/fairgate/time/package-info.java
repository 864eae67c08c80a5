/** The one source of time: a Reactor {@code Scheduler} is clock and timer in one. */
@NullMarked
package io.fairgate.time;

import org.jspecify.annotations.NullMarked;

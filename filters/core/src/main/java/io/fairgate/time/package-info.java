/** The source of time: a Reactor {@code Scheduler} is both the clock and the timers. */
@NullMarked
package io.fairgate.time;

import org.jspecify.annotations.NullMarked;

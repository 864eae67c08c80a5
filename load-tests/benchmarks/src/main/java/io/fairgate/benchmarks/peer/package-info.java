/**
 * The programs that Fairgate is compared with, each of which is started as a process of its own. They print {@code port
 * N} when they listen on that loopback port, and end with the process that started them.
 */
@NullMarked
package io.fairgate.benchmarks.peer;

import org.jspecify.annotations.NullMarked;

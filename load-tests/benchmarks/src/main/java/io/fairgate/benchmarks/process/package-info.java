/** Processes that are measured from outside: by the operating system, and by the log of their garbage collector. */
@NullMarked
package io.fairgate.benchmarks.process;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.fairgate.benchmarks.process;

import org.jspecify.annotations.NullMarked;

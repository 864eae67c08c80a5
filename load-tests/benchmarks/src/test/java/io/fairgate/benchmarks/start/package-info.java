@NullMarked
package io.fairgate.benchmarks.start;

import org.jspecify.annotations.NullMarked;

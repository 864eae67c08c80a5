@NullMarked
package io.fairgate.benchmarks.load;

import org.jspecify.annotations.NullMarked;

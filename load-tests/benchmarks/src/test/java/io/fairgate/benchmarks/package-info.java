@NullMarked
package io.fairgate.benchmarks;

import org.jspecify.annotations.NullMarked;

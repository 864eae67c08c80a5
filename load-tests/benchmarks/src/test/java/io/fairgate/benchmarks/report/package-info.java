@NullMarked
package io.fairgate.benchmarks.report;

import org.jspecify.annotations.NullMarked;

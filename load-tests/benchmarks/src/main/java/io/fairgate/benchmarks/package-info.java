/**
 * JMH benchmarks that compare the cost of the permit core with libraries that do the same or less, and their report.
 *
 * <p>Compare only the ratios within one run, because only ratios hold on another machine.
 */
@NullMarked
package io.fairgate.benchmarks;

import org.jspecify.annotations.NullMarked;

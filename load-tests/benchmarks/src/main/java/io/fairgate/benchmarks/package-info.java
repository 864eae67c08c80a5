/**
 * What the permit core costs, beside what others cost that do less or the same: JMH benchmarks, and the report of them.
 *
 * <p>Only ratios of one run are compared, because only they travel to another machine.
 */
@NullMarked
package io.fairgate.benchmarks;

import org.jspecify.annotations.NullMarked;

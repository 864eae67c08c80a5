/** Simulations of hours, the bounds that they measure, and {@code docs/fairness-report.md}, which is made of them. */
@NullMarked
package io.fairgate.fairness.report;

import org.jspecify.annotations.NullMarked;

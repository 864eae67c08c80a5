/** What all reports have in common: medians, the form of numbers, the line about the machine, and pictures. */
@NullMarked
package io.fairgate.benchmarks.report;

import org.jspecify.annotations.NullMarked;

/** Tests of the scheduler's inside: its nodes, its gain, and its heaps against a scan that defines their answers. */
@NullMarked
package io.fairgate.fairness;

import org.jspecify.annotations.NullMarked;

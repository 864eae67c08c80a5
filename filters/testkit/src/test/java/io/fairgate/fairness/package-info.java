/** Tests that look inside the scheduler: its nodes, its gain, and its heaps against a scan that is their definition. */
@NullMarked
package io.fairgate.fairness;

import org.jspecify.annotations.NullMarked;

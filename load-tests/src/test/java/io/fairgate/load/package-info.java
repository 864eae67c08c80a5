/**
 * Gatling scripts that show, over HTTP, what a tenant experiences.
 *
 * <p>They compare phases of one run (alone against under noise, plain route against fair route) and never numbers of different
 * machines, because only ratios hold on another machine.
 */
@NullMarked
package io.fairgate.load;

import org.jspecify.annotations.NullMarked;

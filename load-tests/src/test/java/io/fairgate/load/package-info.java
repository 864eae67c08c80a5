/**
 * Gatling scripts that show, from outside and over HTTP, what a tenant feels.
 *
 * <p>They compare a run with itself (alone against under noise, plain route against fair route) and never with numbers
 * of another machine, because only the ratios travel.
 */
@NullMarked
package io.fairgate.load;

import org.jspecify.annotations.NullMarked;

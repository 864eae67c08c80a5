/**
 * A load test of any gateway, driven by a plan: a file that says which tenants send what, and what each may expect.
 *
 * <p>{@link io.fairgate.load.kit.PlanSimulation} runs a plan. {@code docs/load-kit.md} explains the files.
 */
@NullMarked
package io.fairgate.load.kit;

import org.jspecify.annotations.NullMarked;

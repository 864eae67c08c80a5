/**
 * Reads, checks and watches a policy.
 *
 * <p>A file goes through three steps. {@link io.fairgate.config.yaml.YamlDocument} turns its text into YAML nodes,
 * which keep their lines; no tag constructs an object. {@link io.fairgate.config.yaml.Section} opens a mapping by the
 * declarations of its keys, which are all in {@code io.fairgate.config.policy.PolicyKeys}, and gives the typed values to
 * the readers of that package, one for each part of a policy. The records of the core check the values together: the
 * section turns what they refuse into mistakes. Spring's properties go through the same readers
 * ({@link io.fairgate.config.yaml.PropertyNodes}).
 *
 * <p>No step stops at the first mistake. {@link io.fairgate.config.yaml.Mistakes} notes each one, and the value is left
 * out, so that the rest is checked as if the value were absent: one defect gives one mistake.
 */
@NullMarked
package io.fairgate.config;

import org.jspecify.annotations.NullMarked;

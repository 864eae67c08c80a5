/**
 * Reads, checks and watches a policy.
 *
 * <p>A file goes through three steps. {@link io.fairgate.config.yaml.YamlDocument} turns its text into YAML nodes, which keep
 * their lines; no tag constructs an object. {@link io.fairgate.config.yaml.Section} and {@link io.fairgate.config.yaml.Value}
 * return those by key and type to the readers of {@code io.fairgate.config.policy}, of which each part of a policy has one. The
 * records of the core decide what is in range: {@link io.fairgate.config.yaml.Given} turns what they refuse into mistakes. Spring's
 * properties go through the same readers ({@link io.fairgate.config.yaml.PropertyNodes}).
 *
 * <p>No step stops at the first mistake. {@link io.fairgate.config.yaml.Mistakes} notes each one, and the value is left out, so
 * that the rest can be checked as if it were absent: one defect gives one mistake.
 */
@NullMarked
package io.fairgate.config;

import org.jspecify.annotations.NullMarked;

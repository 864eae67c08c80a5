/**
 * The policy file and the reader that checks it.
 *
 * <p>A file goes through three steps. {@link io.fairgate.config.YamlDocument} turns its text into YAML nodes, which
 * keep their lines; nothing is ever constructed from a tag. {@link io.fairgate.config.Section} and
 * {@link io.fairgate.config.Value} hand those out by key and type, and one reader for each part of the file asks them.
 * The records of the core decide what is in range: {@link io.fairgate.config.Given} turns what they refuse into
 * mistakes.
 *
 * <p>No step stops at the first mistake. What is wrong is noted in {@link io.fairgate.config.Mistakes} and left out,
 * so that the rest can be checked as if it were absent, and one defect gives one mistake.
 */
@NullMarked
package io.fairgate.config;

import org.jspecify.annotations.NullMarked;

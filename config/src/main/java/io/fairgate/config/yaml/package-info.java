/**
 * Text with lines: YAML nodes by key and type, their placeholders, the mistakes about them, and the nearest known word.
 */
@NullMarked
package io.fairgate.config.yaml;

import org.jspecify.annotations.NullMarked;

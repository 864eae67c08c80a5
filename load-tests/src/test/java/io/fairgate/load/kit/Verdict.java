package io.fairgate.load.kit;

/**
 * Whether one expectation of the plan holds.
 *
 * @param expected such as {@code quiet: refused, at most 0 %}
 * @param found such as {@code 0.3 %}
 */
record Verdict(String expected, String found, boolean holds) {}

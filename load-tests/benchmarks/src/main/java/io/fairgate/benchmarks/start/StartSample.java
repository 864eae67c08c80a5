package io.fairgate.benchmarks.start;

/**
 * One start.
 *
 * @param seconds from the start of the process to its first 200
 * @param processorSeconds that the process used until then
 * @param others processors that other programs used meanwhile
 */
record StartSample(double seconds, double processorSeconds, double others) {}

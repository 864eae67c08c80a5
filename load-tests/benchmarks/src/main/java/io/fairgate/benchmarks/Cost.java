package io.fairgate.benchmarks;

/**
 * The cost of one operation.
 *
 * @param nanos the median; half of the operations are faster
 * @param bytes allocated on the heap
 * @param processors that the benchmark's JVM had
 */
record Cost(double nanos, double bytes, double processors) {}

package io.fairgate.benchmarks;

/**
 * What one operation takes.
 *
 * @param nanos the median; half of the operations are faster
 * @param bytes allocated on the heap
 * @param processors that the benchmark had
 */
record Cost(double nanos, double bytes, double processors) {}

/**
 * Both sides of a measured gateway: a load with many connections, and an upstream. Both are made for low cost, to leave
 * the processors to the gateway: one thread each, prepared bytes, and no decoding that is not needed.
 */
@NullMarked
package io.fairgate.benchmarks.load;

import org.jspecify.annotations.NullMarked;

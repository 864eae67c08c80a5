@NullMarked
package io.fairgate.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.fairgate.benchmarks.http;

import org.jspecify.annotations.NullMarked;

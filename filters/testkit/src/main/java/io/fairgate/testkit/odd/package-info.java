/**
 * Deliberately odd backends for tests. They answer a tick later and on another thread, say "no" now and then where that is
 * allowed, and lose their connection when a test says so. What runs on them depends on the ports, and not on the embedded
 * backend.
 */
@NullMarked
package io.fairgate.testkit.odd;

import org.jspecify.annotations.NullMarked;

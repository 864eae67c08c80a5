/**
 * The contract of permit pools, by topic. The test of a backend is one small subclass of
 * {@link io.fairgate.testkit.permit.PermitPoolContract}. The tests say what holds once the pool has answered, so that a pool
 * in another process can pass them.
 */
@NullMarked
package io.fairgate.testkit.permit;

import org.jspecify.annotations.NullMarked;

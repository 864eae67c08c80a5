/**
 * The contract of quotas, by topic. The test of a backend is one small subclass of
 * {@link io.fairgate.testkit.quota.QuotasContract}. The tests say what holds once the quotas have answered, so that quotas in
 * another process can pass them.
 */
@NullMarked
package io.fairgate.testkit.quota;

import org.jspecify.annotations.NullMarked;

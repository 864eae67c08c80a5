/** Throttle's protocol over the lease port: its clients are tenants of the policy, and its semaphores are pools of the policy. */
@NullMarked
package io.fairgate.gateway.throttle.policy;

import org.jspecify.annotations.NullMarked;

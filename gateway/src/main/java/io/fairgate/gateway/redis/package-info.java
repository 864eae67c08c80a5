/** Pools and quotas that several gateways share through Redis ({@code fairgate.backend: redis}). */
@NullMarked
package io.fairgate.gateway.redis;

import org.jspecify.annotations.NullMarked;

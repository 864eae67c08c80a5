/** What several processes share through Redis. */
@NullMarked
package io.fairgate.redis;

import org.jspecify.annotations.NullMarked;

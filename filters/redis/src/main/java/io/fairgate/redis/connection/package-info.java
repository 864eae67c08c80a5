/** How a process reaches Redis. */
@NullMarked
package io.fairgate.redis.connection;

import org.jspecify.annotations.NullMarked;

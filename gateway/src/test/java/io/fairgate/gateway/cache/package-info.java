@NullMarked
package io.fairgate.gateway.cache;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.fairgate.gateway.page;

import org.jspecify.annotations.NullMarked;

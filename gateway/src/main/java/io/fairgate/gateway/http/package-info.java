/** HTTP without an application context, for what the program serves beside the gateway. */
@NullMarked
package io.fairgate.gateway.http;

import org.jspecify.annotations.NullMarked;

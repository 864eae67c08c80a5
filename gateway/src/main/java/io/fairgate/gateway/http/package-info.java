/** HTTP without an application context, for what the program serves beside the gateway: a table of routes, and a server. */
@NullMarked
package io.fairgate.gateway.http;

import org.jspecify.annotations.NullMarked;

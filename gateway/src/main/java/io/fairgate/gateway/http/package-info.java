/** HTTP for what the program serves beside the gateway, without an application context: a table of routes, and a server. */
@NullMarked
package io.fairgate.gateway.http;

import org.jspecify.annotations.NullMarked;

/**
 * The program. {@link io.fairgate.gateway.Fairgate} parses the command line; each sub-command is a class;
 * {@link io.fairgate.gateway.start.GatewayRun} starts the gateway with a policy.
 */
@NullMarked
package io.fairgate.gateway;

import org.jspecify.annotations.NullMarked;

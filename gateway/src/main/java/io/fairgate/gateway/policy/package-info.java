/** The policy file while the gateway runs: its routes, their checks, and its reload. */
@NullMarked
package io.fairgate.gateway.policy;

import org.jspecify.annotations.NullMarked;

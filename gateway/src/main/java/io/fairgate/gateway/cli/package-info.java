/** The sub-commands of the program. */
@NullMarked
package io.fairgate.gateway.cli;

import org.jspecify.annotations.NullMarked;

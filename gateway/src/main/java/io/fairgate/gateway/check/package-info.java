/** What is different in a gateway that only checks a policy. */
@NullMarked
package io.fairgate.gateway.check;

import org.jspecify.annotations.NullMarked;

/** How much a tenant may use: units per window, checked before a request waits and charged when it goes. */
@NullMarked
package io.fairgate.quota;

import org.jspecify.annotations.NullMarked;

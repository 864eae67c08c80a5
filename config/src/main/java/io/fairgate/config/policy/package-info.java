/** The readers of the parts of a policy, one for each part, and the keys that each part has. */
@NullMarked
package io.fairgate.config.policy;

import org.jspecify.annotations.NullMarked;

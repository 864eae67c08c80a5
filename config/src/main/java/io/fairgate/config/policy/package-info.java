/** The readers of the parts of a policy, one for each part, and the keys of each part. */
@NullMarked
package io.fairgate.config.policy;

import org.jspecify.annotations.NullMarked;

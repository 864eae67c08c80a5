/** The result of reading a policy file: the checked policy, its warnings, or its mistakes. */
@NullMarked
package io.fairgate.config.model;

import org.jspecify.annotations.NullMarked;

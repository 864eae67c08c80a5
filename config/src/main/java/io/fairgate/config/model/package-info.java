/** What a policy file says once it is read and checked, and what is wrong with one. */
@NullMarked
package io.fairgate.config.model;

import org.jspecify.annotations.NullMarked;

/** The starter in somebody else's gateway, and the parts that need no gateway. */
@NullMarked
package io.fairgate.spring;

import org.jspecify.annotations.NullMarked;

/** The starter in another application's gateway, and the parts that need no gateway. */
@NullMarked
package io.fairgate.spring;

import org.jspecify.annotations.NullMarked;

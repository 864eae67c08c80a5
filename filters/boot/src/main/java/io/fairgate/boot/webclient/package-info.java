/** Fair calls by WebClient. */
@NullMarked
package io.fairgate.boot.webclient;

import org.jspecify.annotations.NullMarked;

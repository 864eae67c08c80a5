/** What another policy would do to the requests of the latest minutes: they are replayed, and nothing is changed. */
@NullMarked
package io.fairgate.spring.whatif;

import org.jspecify.annotations.NullMarked;

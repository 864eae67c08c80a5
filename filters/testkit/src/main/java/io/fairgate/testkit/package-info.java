/** What proves a backend: the contracts that every implementation inherits, and what keeps the tests honest. */
@NullMarked
package io.fairgate.testkit;

import org.jspecify.annotations.NullMarked;

/** What an operator decides: who a tenant is, what it may claim and use, and which pools there are. Plain values. */
@NullMarked
package io.fairgate.policy;

import org.jspecify.annotations.NullMarked;

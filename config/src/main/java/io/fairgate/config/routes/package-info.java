/** What is known of the routes of a policy file without building them: Spring Cloud Gateway's filters and predicates, and what they match. */
@NullMarked
package io.fairgate.config.routes;

import org.jspecify.annotations.NullMarked;

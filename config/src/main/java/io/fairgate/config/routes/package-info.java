/**
 * What is known of the routes of a policy file without building them.
 *
 * <p>A filter or a predicate as a route writes it is {@code Written}. {@code BuiltIns} has a {@code Component} for each filter and
 * predicate of Spring Cloud Gateway: its name and the arguments that it uses. {@code ComponentCheck} compares the two, {@code
 * FilterArguments} looks at what filters do with paths and headers, and {@code RouteMetadata} and {@code Cors} read the rest of a
 * route. {@code ShadowedRoutes} compares routes with each other, by the {@code Condition}s of their predicates.
 */
@NullMarked
package io.fairgate.config.routes;

import org.jspecify.annotations.NullMarked;

/**
 * The operator's page on the management port: {@code /}. It shows what {@link io.fairgate.gateway.page.PageStates} reads each second
 * while the page is open, and asks the endpoints of the actuator for the rest. It changes nothing.
 *
 * <p>The page itself is in the resources of this package: HTML, a style sheet, and JavaScript without a library or a build step.
 */
@NullMarked
package io.fairgate.gateway.page;

import org.jspecify.annotations.NullMarked;

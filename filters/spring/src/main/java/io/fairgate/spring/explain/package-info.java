/**
 * Why a request waited or was refused: the state of the pool at that moment, and the tenants that held its permits meanwhile.
 *
 * <p>{@link io.fairgate.spring.explain.UsageHistory} keeps who held the permits of each pool, second by second. An explanation is made
 * only when an operator asks for one, so it costs requests nothing.
 */
@NullMarked
package io.fairgate.spring.explain;

import org.jspecify.annotations.NullMarked;

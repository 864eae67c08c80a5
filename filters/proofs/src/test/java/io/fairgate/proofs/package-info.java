/**
 * Proofs of the embedded pool of permits: every order of steps that a few threads can take, within bounds, looked
 * through by a model checker. {@code docs/proofs.md} says what is proven and what has turned each test red.
 */
@NullMarked
package io.fairgate.proofs;

import org.jspecify.annotations.NullMarked;

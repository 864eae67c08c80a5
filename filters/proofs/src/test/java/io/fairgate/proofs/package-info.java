/**
 * Proofs of the embedded permit pool, by a model checker and by stress tests. {@code docs/proofs.md} says what is proven and
 * how the proofs themselves are tested.
 */
@NullMarked
package io.fairgate.proofs;

import org.jspecify.annotations.NullMarked;

/**
 * Mutants: for each proof, a fault in the pool that turns it red. A mutant is a file in {@code src/mutants} with a
 * description of the fault, the text to replace, its replacement, and the proofs that detect it.
 */
@NullMarked
package io.fairgate.proofs.mutants;

import org.jspecify.annotations.NullMarked;

/**
 * Mutants on record: for each proof a way to break the pool that turns it red. A mutant is a file in {@code src/mutants}
 * that says what is broken, the text that is there, the text that takes its place, and the proofs that see it.
 */
@NullMarked
package io.fairgate.proofs.mutants;

import org.jspecify.annotations.NullMarked;

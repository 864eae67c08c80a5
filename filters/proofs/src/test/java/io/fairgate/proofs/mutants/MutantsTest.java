package io.fairgate.proofs.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairgate.proofs.ModelCheck;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What can be checked without compiling a mutant. */
class MutantsTest {

    static Stream<Mutant> mutants() {
        return Mutant.all();
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void the_text_that_a_mutant_replaces_occurs_once(Mutant mutant) {
        assertThat(mutant.code()).contains(mutant.instead());
        assertThat(mutant.instead()).isNotEqualTo(mutant.there());
    }

    @Test
    void each_proof_has_a_mutant_and_each_mutant_has_a_proof() {
        List<String> proofs = Stream.concat(
                        Arrays.stream(ModelCheck.values()).flatMap(check -> check.proofs().stream()),
                        StressTests.all().stream())
                .toList();

        List<String> red = Mutant.all()
                .flatMap(mutant -> mutant.proofs().stream())
                .distinct()
                .toList();

        assertThat(red).containsExactlyInAnyOrderElementsOf(proofs);
    }
}

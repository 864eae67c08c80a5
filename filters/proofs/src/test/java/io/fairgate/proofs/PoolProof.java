package io.fairgate.proofs;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Has several subclasses, which run in several JVMs at once: the model checker runs only one thread at a time. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PoolProof {

    /** The pools to check. */
    abstract Stream<ModelCheck> checks();

    @BeforeAll
    void loadClasses() {
        ModelCheck.loadClasses();
    }

    @ParameterizedTest
    @MethodSource("checks")
    void every_order_of_the_steps_has_an_allowed_outcome(ModelCheck check) {
        check.checkAll();
    }
}

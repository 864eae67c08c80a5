package io.fairgate.proofs;

import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Several classes, so that they run in several JVMs at once: a model checker lets only one thread go on at a time. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class PoolProof {

    /** Pools that are looked through. */
    abstract Stream<ModelCheck> checks();

    @BeforeAll
    void loadClasses() {
        ModelCheck.loadClasses();
    }

    @ParameterizedTest
    @MethodSource("checks")
    void each_order_of_its_steps_ends_well(ModelCheck check) {
        check.checkAll();
    }
}

package io.fairgate.proofs;

import java.util.stream.Stream;

class TimeAndClosingTest extends PoolProof {

    @Override
    Stream<ModelCheck> checks() {
        return Stream.of(ModelCheck.TIME_IS_UP, ModelCheck.TIME_IS_UP_AS_PERMITS_OPEN, ModelCheck.CLOSING);
    }
}

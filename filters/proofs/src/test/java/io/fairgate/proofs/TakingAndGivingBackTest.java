package io.fairgate.proofs;

import java.util.stream.Stream;

class TakingAndGivingBackTest extends PoolProof {

    @Override
    Stream<ModelCheck> checks() {
        return Stream.of(
                ModelCheck.ONE_OPEN_PERMIT,
                ModelCheck.TWO_OPEN_PERMITS,
                ModelCheck.ONE_PERMIT_ABOUT_TO_LIE_OPEN,
                ModelCheck.TWO_PERMITS_ABOUT_TO_LIE_OPEN);
    }
}

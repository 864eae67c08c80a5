package io.fairgate.permit.embedded;

import io.fairgate.permit.PermitRequest;
import io.fairgate.permit.RefusalReason;

/** A claim without behaviour, for tests of collections. */
final class StubClaim extends TimedClaim {

    StubClaim() {
        super(PermitRequest.of("a"));
    }

    @Override
    long waitUntil() {
        return 0;
    }

    @Override
    long maxHoldNanos() {
        return 0;
    }

    @Override
    boolean isOver() {
        return false;
    }

    @Override
    boolean refuse(RefusalReason reason) {
        return false;
    }

    @Override
    void goHome() {}

    @Override
    protected boolean accept() {
        return false;
    }
}
